#include "ops/nn/activation.h"

namespace tandem {

Status CheckEqualShapes(const KernelContext& ctx) {
  const Shape &a = ctx.input(0).shape(), &b = ctx.input(1).shape();
  if (a == b) return OkStatus();
  return InvalidArgument("Inputs to operation ", ctx.node_name(), " must have same size and shape.  Input 0: ", a.ToString(), " != input 1: ", b.ToString());
}

Status SameAsBothInputs(ShapeContext& ctx) {
  ASSIGN_OR_RETURN(PartialShape shape, PartialShape::Merge(ctx.input(0), ctx.input(1)));
  ctx.set_output(0, shape);
  return OkStatus();
}

}  // namespace tandem
