// Relu, Relu6, LeakyRelu and their gradients: straight lines with corners.
#include <algorithm>

#include "graph/gradient.h"
#include "ops/nn/activation.h"

namespace tandem {
namespace {

struct ReluRule {
  template <typename C>
  C operator()(C x) const {
    return std::max(x, C(0));  // in this order NaN stays NaN
  }
};

struct ReluGradRule {
  template <typename C>
  C operator()(C g, C x) const {
    return x > C(0) ? g : C(0);
  }
};

struct Relu6Rule {
  template <typename C>
  C operator()(C x) const {
    return std::min(std::max(x, C(0)), C(6));
  }
};

struct Relu6GradRule {
  template <typename C>
  C operator()(C g, C x) const {
    return x > C(0) && x < C(6) ? g : C(0);
  }
};

struct LeakyReluRule {
  explicit LeakyReluRule(const Attrs& attrs) : alpha(attrs.GetFloat("alpha")) {}
  template <typename C>
  C operator()(C x) const {
    return x > C(0) ? x : x * static_cast<C>(alpha);
  }
  float alpha;
};

struct LeakyReluGradRule {
  explicit LeakyReluGradRule(const Attrs& attrs) : alpha(attrs.GetFloat("alpha")) {}
  template <typename C>
  C operator()(C g, C x) const {
    return x > C(0) ? g : g * static_cast<C>(alpha);
  }
  float alpha;
};

// The functions are linear but for their corners: the gradient op is linear in the gradient, and flat in the feature.
GradientFunction ByGradientOp(const char* gradient_op, bool of_output) {
  return [=](GradientScope& g) { return g.Return({g.Op(gradient_op, {g.grad(0), of_output ? g.output(0) : g.input(0)})}); };
}
GradientFunction ByItself(const char* gradient_op) {
  return [=](GradientScope& g) { return g.Return({g.Op(gradient_op, {g.grad(0), g.input(1)}), g.Op("ZerosLike", {g.input(1)})}); };
}

NamedAttr Alpha(const GradientScope& g) { return {"alpha", g.attrs().GetFloat("alpha")}; }

Status LeakyReluGradient(GradientScope& g) { return g.Return({g.Op("LeakyReluGrad", {g.grad(0), g.input(0)}, {Alpha(g)})}); }

Status LeakyReluGradGradient(GradientScope& g) {
  return g.Return({g.Op("LeakyReluGrad", {g.grad(0), g.input(1)}, {Alpha(g)}), g.Op("ZerosLike", {g.input(1)})});
}

DEFINE_OP("Relu")
    .Input("features: T")
    .Output("activations: T")
    .Attr("T: REAL + {qint8}")
    .Shape(SameAsInput0)
    .Cpu(ForReal<Activation<ReluRule>>())
    .Gradient(ByGradientOp("ReluGrad", /*of_output=*/true));

DEFINE_OP("ReluGrad")
    .Input("gradients: T")
    .Input("features: T")
    .Output("backprops: T")
    .Attr("T: REAL")
    .Shape(SameAsBothInputs)
    .Cpu(ForReal<ActivationGradient<ReluGradRule>>())
    .Gradient(ByItself("ReluGrad"));

DEFINE_OP("Relu6")
    .Input("features: T")
    .Output("activations: T")
    .Attr("T: REAL")
    .Shape(SameAsInput0)
    .Cpu(ForReal<Activation<Relu6Rule>>())
    .Gradient(ByGradientOp("Relu6Grad", /*of_output=*/true));

DEFINE_OP("Relu6Grad")
    .Input("gradients: T")
    .Input("features: T")
    .Output("backprops: T")
    .Attr("T: REAL")
    .Shape(SameAsBothInputs)
    .Cpu(ForReal<ActivationGradient<Relu6GradRule>>())
    .Gradient(ByItself("Relu6Grad"));

DEFINE_OP("LeakyRelu")
    .Input("features: T")
    .Output("activations: T")
    .Attr("alpha: float = 0.2")
    .Attr("T: FLT = float")
    .Shape(SameAsInput0)
    .Cpu(ForFloating<Activation<LeakyReluRule>>())
    .Gradient(LeakyReluGradient);

DEFINE_OP("LeakyReluGrad")
    .Input("gradients: T")
    .Input("features: T")
    .Output("backprops: T")
    .Attr("alpha: float = 0.2")
    .Attr("T: FLT = float")
    .Shape(SameAsBothInputs)
    .Cpu(ForFloating<ActivationGradient<LeakyReluGradRule>>())
    .Gradient(LeakyReluGradGradient);

}  // namespace
}  // namespace tandem
