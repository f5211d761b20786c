// Places where a step is fed. They run only if nobody fed them.
#include <string>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"

namespace tandem {
namespace {

struct UnfedPlaceholder {
  explicit UnfedPlaceholder(const Attrs& attrs)
      : message("You must feed a value for placeholder tensor '" + attrs.node_name() + "' with dtype " + DataTypeName(attrs.GetType("dtype"))) {
    PartialShape shape = attrs.GetShape("shape");
    if (shape.rank() > 0) message += " and shape " + shape.ToString();
  }

  Status Run(KernelContext& ctx) const { return InvalidArgument(message); }

  std::string message;
};

// Clients older than GraphDef version 24 write [] where they mean an unknown shape, so a Placeholder's scalar shape says nothing.
Status PlaceholderShape(ShapeContext& ctx) {
  PartialShape shape = ctx.attrs().GetShape("shape");
  ctx.set_output(0, shape.rank() == 0 ? PartialShape() : shape);
  return OkStatus();
}

struct Default {
  Status Run(KernelContext& ctx) const {
    ctx.set_output(0, ctx.TakeInput(0));
    return OkStatus();
  }
};

// A feed needs to fit `shape` only; so does the default value.
Status DefaultShape(ShapeContext& ctx) {
  PartialShape shape = ctx.attrs().GetShape("shape");
  RETURN_IF_ERROR(PartialShape::Merge(ctx.input(0), shape).status());
  ctx.set_output(0, shape);
  return OkStatus();
}

Status DefaultGradient(GradientScope& g) { return g.Return({g.grad(0)}); }

DEFINE_OP("Placeholder")
    .Output("output: dtype")
    .Attr("dtype: type")
    .Attr("shape: shape = <unknown>")
    .Shape(PlaceholderShape)
    .Cpu(AnyType<UnfedPlaceholder>())
    .NoGradient();

DEFINE_OP("PlaceholderV2")
    .Output("output: dtype")
    .Attr("dtype: type")
    .Attr("shape: shape")
    .Shape(ShapeFromAttr)
    .Cpu(AnyType<UnfedPlaceholder>())
    .NoGradient();

DEFINE_OP("PlaceholderWithDefault")
    .Input("input: dtype")
    .Output("output: dtype")
    .Attr("dtype: type")
    .Attr("shape: shape")
    .Shape(DefaultShape)
    .Cpu(AnyType<Default>())
    .Gradient(DefaultGradient);

}  // namespace
}  // namespace tandem
