// What passes references on or asks about them, without touching the value: IsVariableInitialized, RefIdentity, RefSelect.
#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"

namespace tandem {
namespace {

struct IsVariableInitialized {
  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(Tensor* is_initialized, ctx.Allocate(0, Shape()));
    *is_initialized->mutable_data<bool>() = ctx.ref_input(0)->is_initialized();
    return OkStatus();
  }
};

DEFINE_OP("IsVariableInitialized")
    .Input("ref: Ref(dtype)")
    .Output("is_initialized: bool")
    .Attr("dtype: type")
    .AllowsUninitializedInput()
    .Shape(ScalarOutputs)
    .Cpu(AnyType<IsVariableInitialized>())
    .NoGradient();

struct RefIdentity {
  Status Run(KernelContext& ctx) const {
    ctx.set_ref_output(0, ctx.ref_input(0));
    return OkStatus();
  }
};

DEFINE_OP("RefIdentity")
    .Input("input: Ref(T)")
    .Output("output: Ref(T)")
    .Attr("T: type")
    .AllowsUninitializedInput()
    .Shape(SameAsInput0)
    .Cpu(AnyType<RefIdentity>())
    .Gradient([](GradientScope& g) { return g.Return({g.grad(0)}); });

struct RefSelect {
  Status Run(KernelContext& ctx) const {
    const Tensor& index = ctx.input(0);
    if (!index.shape().is_scalar()) return InvalidArgument("Index must be a scalar, but it has shape ", index.shape().ToString());
    const int32_t chosen = index.scalar<int32_t>();
    const int count = ctx.num_inputs() - 1;
    if (chosen < 0 || chosen >= count) return InvalidArgument("Index must be in the range [0, ", count, ") but got ", chosen);
    ctx.set_ref_output(0, ctx.ref_input(1 + chosen));
    return OkStatus();
  }
};

Status RefSelectShape(ShapeContext& ctx) {
  // Known only where all inputs agree.
  for (int i = 2; i < ctx.num_inputs(); ++i) {
    if (ctx.input(i) != ctx.input(1)) return UnknownShapes(ctx);
  }
  ctx.set_output(0, ctx.input(1));
  return OkStatus();
}

DEFINE_OP("RefSelect")
    .Input("index: int32")
    .Input("inputs: N * Ref(T)")
    .Output("output: Ref(T)")
    .Attr("T: type")
    .Attr("N: int >= 1")
    .Shape(RefSelectShape)
    .Cpu(AnyType<RefSelect>());

}  // namespace
}  // namespace tandem
