// Ops that hand their inputs on, or do nothing: they exist for ordering, naming and for what gradients make of them.
#include <vector>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"

namespace tandem {
namespace {

struct NoOp {
  Status Run(KernelContext& ctx) const { return OkStatus(); }
};

struct Identity {
  Status Run(KernelContext& ctx) const {
    for (int i = 0; i < ctx.num_inputs(); ++i) ctx.set_output(i, ctx.TakeInput(i));
    return OkStatus();
  }
};

struct DeepCopy {
  Status Run(KernelContext& ctx) const {
    ctx.set_output(0, ctx.input(0).Clone());
    return OkStatus();
  }
};

Status SameAsInputs(ShapeContext& ctx) {
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.set_output(i, ctx.input(i));
  return OkStatus();
}

Status IdentityGradient(GradientScope& g) {
  std::vector<Output> gradients;
  for (int i = 0; i < g.num_inputs(); ++i) gradients.push_back(g.has_grad(i) ? g.grad(i) : Output());
  return g.Return(gradients);
}

Status RefusedGradient(GradientScope& g) {
  return InvalidArgument("Gradient explicitly disabled. Reason: ", g.attrs().GetString("message"));
}

DEFINE_OP("NoOp").Shape(NoOutputs).Cpu(AnyType<NoOp>()).NoGradient();
DEFINE_OP("ControlTrigger").Shape(NoOutputs).Cpu(AnyType<NoOp>()).NoGradient();

DEFINE_OP("Identity").Input("input: T").Output("output: T").Attr("T: type").Shape(SameAsInput0).Cpu(AnyType<Identity>()).Gradient(IdentityGradient);
DEFINE_OP("IdentityN")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: list(type) >= 1")
    .Shape(SameAsInputs)
    .Cpu(AnyType<Identity>())
    .Gradient(IdentityGradient);
DEFINE_OP("StopGradient").Input("input: T").Output("output: T").Attr("T: type").Shape(SameAsInput0).Cpu(AnyType<Identity>()).NoGradient();
DEFINE_OP("PreventGradient")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("message: string = ''")
    .Shape(SameAsInput0)
    .Cpu(AnyType<Identity>())
    .Gradient(RefusedGradient);
DEFINE_OP("Snapshot").Input("input: T").Output("output: T").Attr("T: type").Shape(SameAsInput0).Cpu(AnyType<Identity>()).Gradient(IdentityGradient);
DEFINE_OP("GuaranteeConst").Input("input: T").Output("output: T").Attr("T: type").Stateful().Shape(SameAsInput0).Cpu(AnyType<Identity>()).NoGradient();
DEFINE_OP("DeepCopy").Input("x: T").Output("y: T").Attr("T: type").Stateful().Shape(SameAsInput0).Cpu(AnyType<DeepCopy>()).NoGradient();

}  // namespace
}  // namespace tandem
