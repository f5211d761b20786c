// ApproximateEqual: |x − y| < tolerance, for tensors of the same shape.
#include <algorithm>
#include <cmath>
#include <complex>

#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/math/low_precision.h"

namespace tandem {
namespace {

struct ApproximateEqual {
  explicit ApproximateEqual(const Attrs& attrs) : tolerance(attrs.GetFloat("tolerance")) {}

  template <typename T>
  Status Run(KernelContext& ctx) const {
    Tensor x = ctx.input(0), y = ctx.input(1);
    if (x.shape() != y.shape()) {
      return InvalidArgument("x and y must be of the same shape. x shape: ", x.shape().ToString(), ". y shape: ", y.shape().ToString());
    }
    ASSIGN_OR_RETURN(Tensor * z, ctx.Allocate(0, x.shape()));
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      ASSIGN_OR_RETURN(x, Widened(x));
      ASSIGN_OR_RETURN(y, Widened(y));
      Compare<float>(x, y, z);
    } else {
      Compare<T>(x, y, z);
    }
    return OkStatus();
  }

  template <typename T>
  void Compare(const Tensor& x, const Tensor& y, Tensor* z) const {
    const T* a = x.data<T>();
    const T* b = y.data<T>();
    bool* is_near = z->mutable_data<bool>();
    for (int64_t i = 0; i < z->num_elements(); ++i) {
      if constexpr (std::is_integral_v<T>) {
        is_near[i] = static_cast<double>(std::max(a[i], b[i])) - static_cast<double>(std::min(a[i], b[i])) < tolerance;
      } else {
        is_near[i] = std::abs(a[i] - b[i]) < tolerance;
      }
    }
  }

  float tolerance;
};

DEFINE_OP("ApproximateEqual")
    .Input("x: T")
    .Input("y: T")
    .Output("z: bool")
    .Attr("T: NUM")
    .Attr("tolerance: float = 1e-05")
    .Commutative()
    .Shape(SameAsInput0)
    .Cpu(ForArithmetic<ApproximateEqual>())
    .NoGradient();

}  // namespace
}  // namespace tandem
