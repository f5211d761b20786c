// Half and bfloat16 compute in float: kernels widen their operands, compute, and round the result once.
#pragma once

#include <cstdint>

#include "core/status.h"
#include "tandem/tensor.h"

namespace tandem {

constexpr bool IsLowPrecision(DataType type) { return type == kHalf || type == kBfloat16; }

// `low` is kHalf or kBfloat16.
void WidenToFloat(DataType low, const void* from, float* to, int64_t count);
void NarrowFromFloat(const float* from, DataType low, void* to, int64_t count);

// `low` as a new float tensor of the same shape.
StatusOr<Tensor> Widened(const Tensor& low);
// `wide` is float and has as many elements as `low`.
void Narrow(const Tensor& wide, Tensor* low);

}  // namespace tandem
