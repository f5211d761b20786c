// Checks and converts what is fed, before anything is sent.
#include "client/session_state.h"

namespace tandem {
namespace {

template <typename From, typename To>
Tensor Converted(const Tensor& value, DataType dtype) {
  Tensor made(dtype, value.shape());
  absl::Span<const From> from = value.values<From>();
  absl::Span<To> to = made.mutable_values<To>();
  for (size_t i = 0; i < from.size(); ++i) to[i] = static_cast<To>(from[i]);
  return made;
}

// As C++ converts a literal; no value if that would lose more than precision.
Tensor Converted(const Tensor& value, DataType dtype) {
  switch (value.dtype()) {
    case kInt32:
      if (dtype == kInt64) return Converted<int32_t, int64_t>(value, dtype);
      if (dtype == kFloat) return Converted<int32_t, float>(value, dtype);
      if (dtype == kDouble) return Converted<int32_t, double>(value, dtype);
      break;
    case kInt64:
      if (dtype == kFloat) return Converted<int64_t, float>(value, dtype);
      if (dtype == kDouble) return Converted<int64_t, double>(value, dtype);
      break;
    case kFloat:
      if (dtype == kDouble) return Converted<float, double>(value, dtype);
      break;
    case kDouble:
      if (dtype == kFloat) return Converted<double, float>(value, dtype);
      break;
    default: break;
  }
  return Tensor();
}

}  // namespace

StatusOr<Tensor> CheckFeed(const Output& output, const Tensor& value) {
  if (!value.has_value()) return InvalidArgument("the tensor fed for '", output.name(), "' has no value");
  Tensor converted = value.dtype() == output.dtype() ? value : Converted(value, output.dtype());
  if (!converted.has_value()) {
    return InvalidArgument("cannot feed a value of type ", DataTypeName(value.dtype()), " for '", output.name(), "', which has type ", DataTypeName(output.dtype()));
  }
  if (!output.shape().Allows(converted.shape())) {
    return InvalidArgument("cannot feed a value of shape ", converted.shape().ToString(), " for '", output.name(), "', which has shape ", output.shape().ToString());
  }
  return converted;
}

}  // namespace tandem
