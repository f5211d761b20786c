// The error function and the logarithm of the gamma function, with its derivative.
#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <unsupported/Eigen/SpecialFunctions>

#include "graph/gradient.h"
#include "ops/math/unary.h"

namespace tandem {
namespace {

constexpr double kPi = 3.14159265358979323846;

void FloatErf(const void* x, void* out, int64_t count) {  // Eigen's is vector code
  Eigen::Map<Eigen::ArrayXf>(static_cast<float*>(out), count) = Eigen::Map<const Eigen::ArrayXf>(static_cast<const float*>(x), count).erf();
}
struct ErrorFunction {
  double operator()(double x) const { return std::erf(x); }
};
struct ComplementaryErrorFunction {
  template <typename T>
  T operator()(T x) const {
    return std::erfc(x);
  }
};
struct LogGamma {  // the reentrant forms: std::lgamma writes a global
  float operator()(float x) const {
    int sign;
    return lgammaf_r(x, &sign);
  }
  double operator()(double x) const {
    int sign;
    return lgamma_r(x, &sign);
  }
};

// ψ(x) = ψ(x+1) − 1/x raises x to where ψ(x) ~ ln x − 1/2x − Σ B₂ₙ/(2n x²ⁿ) is exact to double precision;
// ψ(1−x) − ψ(x) = π cot πx serves negative x.
double DigammaOf(double x) {
  if (std::isnan(x) || x == std::numeric_limits<double>::infinity()) return x;
  if (x <= 0 && std::floor(x) == x) return std::numeric_limits<double>::quiet_NaN();  // a pole
  double result = 0;
  if (x < 0) {
    const double fraction = x - std::floor(x);
    result = fraction == 0.5 ? 0 : -kPi / std::tan(kPi * fraction);
    x = 1 - x;
  }
  for (; x < 10; ++x) result -= 1 / x;
  const double z = 1 / (x * x);
  const double series = z * (1. / 12 - z * (1. / 120 - z * (1. / 252 - z * (1. / 240 - z * (1. / 132 - z * (691. / 32760 - z / 12))))));
  return result + std::log(x) - 0.5 / x - series;
}
struct Digamma {
  template <typename T>
  T operator()(T x) const {
    return static_cast<T>(DigammaOf(x));
  }
};

KernelSet ErfKernels() {
  return {"T",
          {{kFloat, MakeUnaryKernel(&FloatErf)},
           {kHalf, MakeUnaryKernel(&FloatErf)},
           {kBfloat16, MakeUnaryKernel(&FloatErf)},
           {kDouble, MakeUnaryKernel(&RunUnaryLoop<ErrorFunction, double>)}}};
}

// d erf = 2/√π e^(−x²) dx
Output ErfSlope(GradientScope& g, double sign) {
  const Output bell = g.Op("Exp", {g.Neg(g.Op("Square", {g.input(0)}))});
  return g.Mul(g.Mul(g.grad(0), g.Scalar(sign * 2 / std::sqrt(kPi), g.input(0))), bell);
}
Status ErfGradient(GradientScope& g) { return g.Return({ErfSlope(g, 1)}); }
Status ErfcGradient(GradientScope& g) { return g.Return({ErfSlope(g, -1)}); }
Status LgammaGradient(GradientScope& g) { return g.Return({g.Mul(g.grad(0), g.Op("Digamma", {g.input(0)}))}); }
Status DigammaGradient(GradientScope& g) { return g.Return({g.Mul(g.grad(0), g.Op("Polygamma", {g.Scalar(1, g.input(0)), g.input(0)}))}); }

const OpRegistrar kOps[] = {
    UnaryOp("Erf").Attr("T: FLT").Cpu(ErfKernels()).Gradient(ErfGradient),
    UnaryOp("Erfc").Attr("T: FLT").Cpu(UnaryKernelsForFloating<ComplementaryErrorFunction>()).Gradient(ErfcGradient),
    UnaryOp("Lgamma").Attr("T: FLT").Cpu(UnaryKernelsForFloating<LogGamma>()).Gradient(LgammaGradient),
    UnaryOp("Digamma").Attr("T: FLT").Cpu(UnaryKernelsForFloating<Digamma>()).Gradient(DigammaGradient),
};

}  // namespace
}  // namespace tandem
