// CheckNumerics: passes its input if all of it is finite.
#include <cmath>
#include <limits>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/math/low_precision.h"

namespace tandem {
namespace {

struct CheckNumerics {
  explicit CheckNumerics(const Attrs& attrs) : message(attrs.GetString("message")) {}

  template <typename T>
  Status Run(KernelContext& ctx) const {
    Tensor x = ctx.input(0);
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      ASSIGN_OR_RETURN(x, Widened(x));
      RETURN_IF_ERROR(Check<float>(x));
    } else {
      RETURN_IF_ERROR(Check<T>(x));
    }
    ctx.set_output(0, ctx.input(0));
    return OkStatus();
  }

  template <typename T>
  Status Check(const Tensor& x) const {
    const T* values = x.data<T>();
    const int64_t count = x.num_elements();
    int64_t finite_count = 0;
    for (int64_t i = 0; i < count; ++i) finite_count += std::abs(values[i]) <= std::numeric_limits<T>::max();
    if (finite_count == count) return OkStatus();
    bool has_nan = false, has_inf = false;
    for (int64_t i = 0; i < count; ++i) {
      has_nan |= std::isnan(values[i]);
      has_inf |= std::isinf(values[i]);
    }
    return InvalidArgument(message, " : Tensor had ", has_inf && has_nan ? "Inf and NaN" : has_inf ? "Inf" : "NaN", " values");
  }

  std::string message;
};

Status CheckNumericsGradient(GradientScope& g) {
  const std::string message = "Not a number (NaN) or infinity (Inf) values detected in gradient. " + g.attrs().GetString("message");
  return g.Return({g.Op("CheckNumerics", {g.grad(0)}, {{"message", message}})});
}

DEFINE_OP("CheckNumerics")
    .Input("tensor: T")
    .Output("output: T")
    .Attr("T: FLT")
    .Attr("message: string")
    .Stateful()
    .Shape(SameAsInput0)
    .Cpu(ForFloating<CheckNumerics>())
    .Gradient(CheckNumericsGradient);

}  // namespace
}  // namespace tandem
