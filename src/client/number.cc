#include "client/number.h"

#include <complex>
#include <limits>

#include "core/status.h"
#include "tandem/error.h"

namespace tandem {
namespace {

template <typename T>
Tensor Filled(DataType dtype, const Shape& shape, T value) {
  Tensor made(dtype, shape);
  for (T& element : made.mutable_values<T>()) element = value;
  return made;
}

}  // namespace

Tensor NumberTensor(double value, DataType dtype, const Shape& shape) {
  switch (dtype) {
    case kFloat: return Filled<float>(dtype, shape, static_cast<float>(value));
    case kDouble: return Filled<double>(dtype, shape, value);
    case kHalf: return Filled<Half>(dtype, shape, Half(static_cast<float>(value)));
    case kBfloat16: return Filled<BFloat16>(dtype, shape, BFloat16(static_cast<float>(value)));
    case kComplex64: return Filled<std::complex<float>>(dtype, shape, static_cast<float>(value));
    case kComplex128: return Filled<std::complex<double>>(dtype, shape, value);
    case kBool: return Filled<bool>(dtype, shape, value != 0);
    default: break;
  }
  const auto fits = [value]<typename T>(T) {
    return value >= static_cast<double>(std::numeric_limits<T>::lowest()) && value <= static_cast<double>(std::numeric_limits<T>::max()) &&
           static_cast<double>(static_cast<int64_t>(value)) == value;
  };
  const auto whole = [&]<typename T>(T zero) {
    if (!fits(zero)) throw Error(InvalidArgument("the number ", value, " does not fit in ", DataTypeName(dtype)));
    return Filled<T>(dtype, shape, static_cast<T>(value));
  };
  switch (dtype) {
    case kInt8: return whole(int8_t{});
    case kInt16: return whole(int16_t{});
    case kInt32: return whole(int32_t{});
    case kInt64: return whole(int64_t{});
    case kUint8: return whole(uint8_t{});
    case kUint16: return whole(uint16_t{});
    case kUint32: return whole(uint32_t{});
    case kUint64: return whole(uint64_t{});
    default: throw Error(InvalidArgument("a number cannot be made a ", DataTypeName(dtype)));
  }
}

}  // namespace tandem
