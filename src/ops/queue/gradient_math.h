// Adding up and dividing tensors whose type is known only at run time.
#pragma once

#include <type_traits>

#include "core/status.h"
#include "tandem/tensor.h"

namespace tandem {

// Calls visit(T()) for the C++ type of `dtype`. Unimplemented for types that gradients do not have.
template <typename Visit>
Status VisitNumber(DataType dtype, Visit visit) {
  switch (dtype) {
    case kFloat: visit(float()); return OkStatus();
    case kDouble: visit(double()); return OkStatus();
    case kHalf: visit(Half()); return OkStatus();
    case kBfloat16: visit(BFloat16()); return OkStatus();
    case kInt32: visit(int32_t()); return OkStatus();
    case kInt64: visit(int64_t()); return OkStatus();
    default: return Unimplemented("gradients of type ", DataTypeName(dtype), " cannot be accumulated");
  }
}

template <typename T>
void AddNumbers(T* to, const T* from, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(to[i] + from[i]);
}

template <typename T>
void DivideNumbers(T* numbers, int64_t count, int64_t by) {
  using Compute = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;
  const Compute divisor = static_cast<Compute>(by);
  for (int64_t i = 0; i < count; ++i) numbers[i] = static_cast<T>(static_cast<Compute>(numbers[i]) / divisor);
}

}  // namespace tandem
