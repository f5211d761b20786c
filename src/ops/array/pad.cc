// Pad and PadV2: one value around a tensor.
#include <vector>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/paddings.h"
#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

struct Pad {
  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    ASSIGN_OR_RETURN(Paddings paddings, ReadPaddings(ctx.input(1), input.shape().rank()));
    bool has_value = ctx.num_inputs() > 2;
    if (has_value && !ctx.input(2).shape().is_scalar()) return InvalidArgument("constant_values must be a scalar. Found: ", ctx.input(2).shape().ToString());
    ASSIGN_OR_RETURN(Shape shape, PaddedShape(input.shape(), paddings));
    if (shape == input.shape()) {
      ctx.set_output(0, ctx.TakeInput(0));
      return OkStatus();
    }
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    if (has_value) {
      int64_t count = shape.num_elements();
      StridedCopy({count}, ctx.input(2), 0, {0}, output, 0, {1});
    } else {
      SetToZero(output);
    }
    if (input.num_elements() == 0) return OkStatus();
    Strides to = RowMajorStrides(shape);
    StridedCopy(input.shape().dims(), input, 0, RowMajorStrides(input.shape()), output, CenterOffset(to, paddings), to);
    return OkStatus();
  }
};

Status PadGradient(GradientScope& g) {
  DataType type = g.input(1).dtype();
  auto vector = [&](int32_t a, int32_t b) { return g.Const(Tensor(std::vector<int32_t>{a, b})); };
  // paddings[:, 0]
  Output begin = g.Op("StridedSlice", {g.input(1), vector(0, 0), vector(0, 1), vector(1, 1)}, {{"begin_mask", 1}, {"end_mask", 1}, {"shrink_axis_mask", 2}});
  Output size = g.Op("Shape", {g.input(0)}, {{"out_type", type}});
  std::vector<Output> gradients(g.num_inputs());
  gradients[0] = g.Op("Slice", {g.grad(0), begin, size});
  return g.Return(gradients);
}

DEFINE_OP("Pad")
    .Input("input: T")
    .Input("paddings: Tpaddings")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tpaddings: IDX = int32")
    .Shape(PadShape)
    .Cpu(AnyType<Pad>())
    .Gradient(PadGradient);

DEFINE_OP("PadV2")
    .Input("input: T")
    .Input("paddings: Tpaddings")
    .Input("constant_values: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tpaddings: IDX = int32")
    .Shape(PadShape)
    .Cpu(AnyType<Pad>())
    .Gradient(PadGradient);

}  // namespace
}  // namespace tandem
