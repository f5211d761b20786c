#include "ops/array/arguments.h"

#include <limits>

namespace tandem {
namespace {

template <typename T>
Integers Widened(const Tensor& tensor) {
  absl::Span<const T> values = tensor.values<T>();
  return Integers(values.begin(), values.end());
}

}  // namespace

StatusOr<Integers> ReadIntegers(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case kInt8: return Widened<int8_t>(tensor);
    case kUint8: return Widened<uint8_t>(tensor);
    case kInt16: return Widened<int16_t>(tensor);
    case kUint16: return Widened<uint16_t>(tensor);
    case kInt32: return Widened<int32_t>(tensor);
    case kInt64: return Widened<int64_t>(tensor);
    default: return InvalidArgument("expected integers, got a tensor of type ", DataTypeName(tensor.dtype()));
  }
}

StatusOr<Integers> ReadVector(const Tensor& tensor, absl::string_view what) {
  if (tensor.shape().rank() > 1) return InvalidArgument(what, " must be a vector, got shape ", tensor.shape().ToString());
  return ReadIntegers(tensor);
}

StatusOr<int64_t> ReadScalar(const Tensor& tensor, absl::string_view what) {
  if (tensor.num_elements() != 1 || tensor.shape().rank() > 1) return InvalidArgument(what, " must be a scalar, got shape ", tensor.shape().ToString());
  ASSIGN_OR_RETURN(Integers values, ReadIntegers(tensor));
  return values[0];
}

StatusOr<Tensor> MakeVector(DataType dtype, absl::Span<const int64_t> values) {
  Tensor made(dtype, Shape{static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) {
    if (dtype == kInt64) {
      made.mutable_data<int64_t>()[i] = values[i];
    } else if (values[i] > std::numeric_limits<int32_t>::max() || values[i] < std::numeric_limits<int32_t>::min()) {
      return InvalidArgument("value ", values[i], " does not fit in int32");
    } else {
      made.mutable_data<int32_t>()[i] = static_cast<int32_t>(values[i]);
    }
  }
  return made;
}

StatusOr<int> ResolveAxis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) return InvalidArgument("Expected dimension in the range [", -rank, ", ", rank, "), but got ", axis);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

bool ConstantScalar(const ShapeContext& ctx, int i, int64_t* value) {
  const Tensor* constant = ctx.constant(i);
  if (constant == nullptr) return false;
  StatusOr<int64_t> read = ReadScalar(*constant, "");
  if (read.ok()) *value = *read;
  return read.ok();
}

bool ConstantVector(const ShapeContext& ctx, int i, Integers* values) {
  const Tensor* constant = ctx.constant(i);
  if (constant == nullptr) return false;
  StatusOr<Integers> read = ReadVector(*constant, "");
  if (read.ok()) *values = *std::move(read);
  return read.ok();
}

}  // namespace tandem
