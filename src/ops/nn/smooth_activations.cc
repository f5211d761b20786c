// Elu, Selu, Softplus, Softsign and their gradients. Those of Elu and Selu are written in terms of the activation's output.
#include <cmath>
#include <limits>

#include "graph/gradient.h"
#include "ops/nn/activation.h"

namespace tandem {
namespace {

struct EluRule {
  template <typename C>
  C operator()(C x) const {
    return x < C(0) ? std::expm1(x) : x;
  }
};

struct EluGradRule {
  template <typename C>
  C operator()(C g, C y) const {
    return y < C(0) ? (y + C(1)) * g : g;
  }
};

// Klambauer et al. 2017: the scale and scale · alpha that keep mean 0 and variance 1.
constexpr double kSeluScale = 1.0507009873554804934193349852946;
constexpr double kSeluScaleAlpha = 1.7580993408473768599402175208123;

struct SeluRule {
  template <typename C>
  C operator()(C x) const {
    return x < C(0) ? C(kSeluScaleAlpha) * std::expm1(x) : C(kSeluScale) * x;
  }
};

struct SeluGradRule {
  template <typename C>
  C operator()(C g, C y) const {
    return y < C(0) ? g * (y + C(kSeluScaleAlpha)) : g * C(kSeluScale);
  }
};

// log(1 + e^x), which equals x, or e^x, up to rounding outside ±limit.
struct SoftplusRule {
  template <typename C>
  C operator()(C x) const {
    const C limit = -std::log(std::numeric_limits<C>::epsilon()) - C(2);
    if (x > limit) return x;
    return x < -limit ? std::exp(x) : std::log1p(std::exp(x));
  }
};

struct SoftplusGradRule {
  template <typename C>
  C operator()(C g, C x) const {
    return g / (std::exp(-x) + C(1));
  }
};

struct SoftsignRule {
  template <typename C>
  C operator()(C x) const {
    return x / (std::abs(x) + C(1));
  }
};

struct SoftsignGradRule {
  template <typename C>
  C operator()(C g, C x) const {
    const C u = std::abs(x) + C(1);
    return g / (u * u);
  }
};

GradientFunction OfOutput(const char* gradient_op) {
  return [=](GradientScope& g) { return g.Return({g.Op(gradient_op, {g.grad(0), g.output(0)})}); };
}
GradientFunction OfInput(const char* gradient_op) {
  return [=](GradientScope& g) { return g.Return({g.Op(gradient_op, {g.grad(0), g.input(0)})}); };
}

// For y < 0 the first derivative is (y + const) · gradient, so that its derivative by y is the gradient.
GradientFunction OfOutputAgain(const char* gradient_op) {
  return [=](GradientScope& g) {
    Output y = g.input(1), zeros = g.Op("ZerosLike", {y});
    Output by_output = g.Op("Select", {g.Op("Less", {y, zeros}), g.Mul(g.grad(0), g.input(0)), zeros});
    return g.Return({g.Op(gradient_op, {g.grad(0), y}), by_output});
  };
}

Status SoftplusGradGradient(GradientScope& g) {
  Output dy = g.input(0), x = g.input(1);
  Output denominator = g.Add(g.Add(g.Op("Exp", {g.Neg(x)}), g.Scalar(2, x)), g.Op("Exp", {x}));
  return g.Return({g.Op("SoftplusGrad", {g.grad(0), x}), g.RealDiv(g.Mul(g.grad(0), dy), denominator)});
}

OpBuilder ActivationOp(const char* name) { return OpBuilder(name).Input("features: T").Output("activations: T").Attr("T: FLT").Shape(SameAsInput0); }
OpBuilder GradientOp(const char* name, const char* operand) {
  return OpBuilder(name).Input("gradients: T").Input(operand).Output("backprops: T").Attr("T: FLT").Shape(SameAsBothInputs);
}

const OpRegistrar kElu = ActivationOp("Elu").Cpu(ForFloating<Activation<EluRule>>()).Gradient(OfOutput("EluGrad"));
const OpRegistrar kEluGrad = GradientOp("EluGrad", "outputs: T").Cpu(ForFloating<ActivationGradient<EluGradRule>>()).Gradient(OfOutputAgain("EluGrad"));
const OpRegistrar kSelu = ActivationOp("Selu").Cpu(ForFloating<Activation<SeluRule>>()).Gradient(OfOutput("SeluGrad"));
const OpRegistrar kSeluGrad = GradientOp("SeluGrad", "outputs: T").Cpu(ForFloating<ActivationGradient<SeluGradRule>>()).Gradient(OfOutputAgain("SeluGrad"));
const OpRegistrar kSoftplus = ActivationOp("Softplus").Cpu(ForFloating<Activation<SoftplusRule>>()).Gradient(OfInput("SoftplusGrad"));
const OpRegistrar kSoftplusGrad =
    GradientOp("SoftplusGrad", "features: T").Cpu(ForFloating<ActivationGradient<SoftplusGradRule>>()).Gradient(SoftplusGradGradient);
const OpRegistrar kSoftsign = ActivationOp("Softsign").Cpu(ForFloating<Activation<SoftsignRule>>()).Gradient(OfInput("SoftsignGrad"));
const OpRegistrar kSoftsignGrad = GradientOp("SoftsignGrad", "features: T").Cpu(ForFloating<ActivationGradient<SoftsignGradRule>>());

}  // namespace
}  // namespace tandem
