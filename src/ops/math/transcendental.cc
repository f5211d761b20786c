// Exponentials, logarithms, trigonometric and kindred functions. Eigen has vector code for most of them in float, which is also
// what TensorFlow runs; the rest comes from the C library.
#include <Eigen/Core>
#include <cmath>
#include <complex>

#include "graph/gradient.h"
#include "ops/math/gradients.h"
#include "ops/math/unary.h"

namespace tandem {
namespace {

// A function of an Eigen array: `template <typename A> auto operator()(const A& x) const`.
template <typename F, typename T>
void RunArray(const void* x, void* out, int64_t count) {
  using Array = Eigen::Array<T, Eigen::Dynamic, 1>;
  Eigen::Map<Array>(static_cast<T*>(out), count) = F{}(Eigen::Map<const Array>(static_cast<const T*>(x), count));
}

template <typename F>
KernelSet ArrayKernels() {
  return {"T",
          {{kFloat, MakeUnaryKernel(&RunArray<F, float>)},
           {kDouble, MakeUnaryKernel(&RunArray<F, double>)},
           {kHalf, MakeUnaryKernel(&RunArray<F, float>)},
           {kBfloat16, MakeUnaryKernel(&RunArray<F, float>)}}};
}

// Name, the Eigen array's method, and the function of a complex number.
#define TANDEM_ARRAY_FUNCTION(Name, method)               \
  struct Name {                                           \
    template <typename A>                                 \
    auto operator()(const Eigen::ArrayBase<A>& x) const { \
      return x.method();                                  \
    }                                                     \
  }
TANDEM_ARRAY_FUNCTION(ExpArray, exp);
TANDEM_ARRAY_FUNCTION(Expm1Array, expm1);
TANDEM_ARRAY_FUNCTION(LogArray, log);
TANDEM_ARRAY_FUNCTION(Log1pArray, log1p);
TANDEM_ARRAY_FUNCTION(SinArray, sin);
TANDEM_ARRAY_FUNCTION(CosArray, cos);
TANDEM_ARRAY_FUNCTION(TanArray, tan);
TANDEM_ARRAY_FUNCTION(TanhArray, tanh);
TANDEM_ARRAY_FUNCTION(SigmoidArray, logistic);
#undef TANDEM_ARRAY_FUNCTION

#define TANDEM_COMPLEX_FUNCTION(Name, expression)                \
  struct Name {                                                  \
    template <typename T>                                        \
    std::complex<T> operator()(const std::complex<T>& x) const { \
      return expression;                                         \
    }                                                            \
  }
TANDEM_COMPLEX_FUNCTION(ComplexExp, std::exp(x));
TANDEM_COMPLEX_FUNCTION(ComplexLog, std::log(x));
TANDEM_COMPLEX_FUNCTION(ComplexSin, std::sin(x));
TANDEM_COMPLEX_FUNCTION(ComplexCos, std::cos(x));
TANDEM_COMPLEX_FUNCTION(ComplexTan, std::tan(x));
TANDEM_COMPLEX_FUNCTION(ComplexTanh, std::tanh(x));
TANDEM_COMPLEX_FUNCTION(ComplexSigmoid, T(1) / (T(1) + std::exp(-x)));
#undef TANDEM_COMPLEX_FUNCTION

// e^(a+bi) − 1 = (e^a − 1) cos b − 2 sin²(b/2) + i e^a sin b: no digits are lost near 0.
struct ComplexExpm1 {
  template <typename T>
  std::complex<T> operator()(const std::complex<T>& x) const {
    const T half_sine = std::sin(x.imag() / 2);
    return {std::expm1(x.real()) * std::cos(x.imag()) - 2 * half_sine * half_sine, std::exp(x.real()) * std::sin(x.imag())};
  }
};
// |1+x|² = 1 + a(2+a) + b²
struct ComplexLog1p {
  template <typename T>
  std::complex<T> operator()(const std::complex<T>& x) const {
    return {std::log1p(x.real() * (2 + x.real()) + x.imag() * x.imag()) / 2, std::atan2(x.imag(), 1 + x.real())};
  }
};

template <typename F>
KernelSet ComplexKernels() {
  return UnaryKernels<F, std::complex<float>, std::complex<double>>();
}

Status ExpGradient(GradientScope& g) { return g.Return({g.Mul(g.grad(0), Conjugate(g, g.output(0)))}); }
Status Expm1Gradient(GradientScope& g) { return g.Return({g.Mul(g.grad(0), g.Op("Exp", {Conjugate(g, g.input(0))}))}); }
Status LogGradient(GradientScope& g) { return g.Return({g.Mul(g.grad(0), g.Op("Reciprocal", {Conjugate(g, g.input(0))}))}); }
Status Log1pGradient(GradientScope& g) { return g.Return({g.Mul(g.grad(0), g.Op("Reciprocal", {g.Add(g.Scalar(1, g.input(0)), Conjugate(g, g.input(0)))}))}); }
Status SinGradient(GradientScope& g) { return g.Return({g.Mul(g.grad(0), g.Op("Cos", {Conjugate(g, g.input(0))}))}); }
Status CosGradient(GradientScope& g) { return g.Return({g.Mul(g.Neg(g.grad(0)), g.Op("Sin", {Conjugate(g, g.input(0))}))}); }
Status TanGradient(GradientScope& g) { return g.Return({g.Mul(g.Op("Square", {g.Op("Reciprocal", {g.Op("Cos", {Conjugate(g, g.input(0))})})}), g.grad(0))}); }
Status TanhGradient(GradientScope& g) { return g.Return({g.Op("TanhGrad", {Conjugate(g, g.output(0)), g.grad(0)})}); }
Status SigmoidGradient(GradientScope& g) { return g.Return({g.Op("SigmoidGrad", {Conjugate(g, g.output(0)), g.grad(0)})}); }

template <typename Array, typename Complex>
OpBuilder TranscendentalOp(const char* name, Status (*gradient)(GradientScope&)) {
  return UnaryOp(name).Attr("T: FC").Cpu(ArrayKernels<Array>()).Cpu(ComplexKernels<Complex>()).Gradient(gradient);
}

const OpRegistrar kOps[] = {
    TranscendentalOp<ExpArray, ComplexExp>("Exp", ExpGradient),
    TranscendentalOp<Expm1Array, ComplexExpm1>("Expm1", Expm1Gradient),
    TranscendentalOp<LogArray, ComplexLog>("Log", LogGradient),
    TranscendentalOp<Log1pArray, ComplexLog1p>("Log1p", Log1pGradient),
    TranscendentalOp<SinArray, ComplexSin>("Sin", SinGradient),
    TranscendentalOp<CosArray, ComplexCos>("Cos", CosGradient),
    TranscendentalOp<TanArray, ComplexTan>("Tan", TanGradient),
    TranscendentalOp<TanhArray, ComplexTanh>("Tanh", TanhGradient),
    TranscendentalOp<SigmoidArray, ComplexSigmoid>("Sigmoid", SigmoidGradient),
};

}  // namespace
}  // namespace tandem
