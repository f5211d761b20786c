// TanhGrad and kin: from the output y of a function and the gradient dy of y, the gradient of the function's input.
#include <complex>

#include "graph/gradient.h"
#include "ops/math/binary.h"
#include "ops/math/gradients.h"

namespace tandem {
namespace {

template <typename T>
T Conj(const T& x) {
  return x;
}
template <typename T>
std::complex<T> Conj(const std::complex<T>& x) {
  return std::conj(x);
}

struct SqrtSlope {
  template <typename T>
  T operator()(const T& y, const T& dy) const {
    return T(0.5) * dy / Conj(y);
  }
};
struct RsqrtSlope {
  template <typename T>
  T operator()(const T& y, const T& dy) const {
    const T c = Conj(y);
    return T(-0.5) * (dy * c) * (c * c);
  }
};
struct ReciprocalSlope {
  template <typename T>
  T operator()(const T& y, const T& dy) const {
    const T c = Conj(y);
    return -(c * dy * c);
  }
};
struct TanhSlope {  // these two do not conjugate, as in TensorFlow
  template <typename T>
  T operator()(const T& y, const T& dy) const {
    return dy * (T(1) - y * y);
  }
};
struct SigmoidSlope {
  template <typename T>
  T operator()(const T& y, const T& dy) const {
    return dy * y * (T(1) - y);
  }
};

Status EqualShapes(const Tensor& y, const Tensor& dy, const Shape&) {
  if (y.shape() == dy.shape()) return OkStatus();
  return InvalidArgument("Inputs must have the same shape: y has ", y.shape().ToString(), ", dy has ", dy.shape().ToString());
}

// Gradients of the gradients, for y = input 0, dy = input 1 and the incoming gradient g. As in TensorFlow, what depends on y is
// differentiated as it stands, without going back to the function's input.
Status SqrtGradGradient(GradientScope& g) {
  const Output ratio = g.RealDiv(g.grad(0), g.input(0));
  return g.Return({g.Mul(g.Neg(Conjugate(g, ratio)), g.output(0)), g.Mul(g.Scalar(0.5, g.input(0)), ratio)});
}
Status RsqrtGradGradient(GradientScope& g) {
  const Output y = Conjugate(g, g.input(0)), incoming = Conjugate(g, g.grad(0));
  const Output dy = g.Mul(g.Mul(g.Mul(g.Scalar(-1.5, g.input(0)), incoming), g.input(1)), g.Op("Square", {y}));
  return g.Return({dy, g.Op("RsqrtGrad", {y, g.grad(0)})});
}
Status ReciprocalGradGradient(GradientScope& g) {
  const Output y = Conjugate(g, g.input(0)), incoming = Conjugate(g, g.grad(0));
  const Output dy = g.Mul(g.Mul(g.Mul(g.Scalar(-2, g.input(0)), incoming), g.input(1)), y);
  return g.Return({dy, g.Op("ReciprocalGrad", {y, g.grad(0)})});
}
Status TanhGradGradient(GradientScope& g) {
  const Output y = Conjugate(g, g.input(0)), dy = Conjugate(g, g.input(1));
  return g.Return({g.Mul(g.Mul(g.Mul(g.Scalar(-2, g.input(0)), g.grad(0)), dy), y), g.Op("TanhGrad", {y, g.grad(0)})});
}
Status SigmoidGradGradient(GradientScope& g) {
  const Output y = Conjugate(g, g.input(0)), dy = Conjugate(g, g.input(1));
  const Output product = g.Mul(g.grad(0), dy);
  return g.Return({g.Sub(product, g.Mul(g.Mul(g.Scalar(2, g.input(0)), product), y)), g.Op("SigmoidGrad", {y, g.grad(0)})});
}

template <typename F>
OpBuilder SlopeOp(const char* name) {
  const BinaryOptions options{.check = EqualShapes};
  return OpBuilder(name)
      .Input("y: T")
      .Input("dy: T")
      .Output("z: T")
      .Attr("T: FC")
      .Shape(SameAsInput0)
      .Cpu(BinaryKernels<F, Half, BFloat16, float, double, std::complex<float>, std::complex<double>>(options));
}

const OpRegistrar kOps[] = {
    SlopeOp<SqrtSlope>("SqrtGrad").Gradient(SqrtGradGradient),
    SlopeOp<RsqrtSlope>("RsqrtGrad").Gradient(RsqrtGradGradient),
    SlopeOp<ReciprocalSlope>("ReciprocalGrad").Gradient(ReciprocalGradGradient),
    SlopeOp<ReciprocalSlope>("InvGrad").Gradient(ReciprocalGradGradient),
    SlopeOp<TanhSlope>("TanhGrad").Gradient(TanhGradGradient),
    SlopeOp<SigmoidSlope>("SigmoidGrad").Gradient(SigmoidGradGradient),
};

}  // namespace
}  // namespace tandem
