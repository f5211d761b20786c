// Pack and Unpack: tensors of one shape to and from one tensor with one more dimension.
#include <vector>

#include "graph/gradient.h"
#include "graph/node.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"
#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

StatusOr<int> StackAxis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) return InvalidArgument("axis = ", axis, " not in [", -rank, ", ", rank, ")");
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

struct Pack {
  explicit Pack(const Attrs& attrs) : axis(attrs.GetInt("axis")) {}

  Status Run(KernelContext& ctx) const {
    const Shape& part = ctx.input(0).shape();
    for (int i = 1; i < ctx.num_inputs(); ++i) {
      if (ctx.input(i).shape() != part) {
        return InvalidArgument("Shapes of all inputs must match: values[0].shape = ", part.ToString(), " != values[", i,
                               "].shape = ", ctx.input(i).shape().ToString());
      }
    }
    ASSIGN_OR_RETURN(int at, StackAxis(axis, part.rank() + 1));
    Shape shape = part;
    shape.InsertDim(at, ctx.num_inputs());
    ASSIGN_OR_RETURN(shape, Shape::Checked(shape.dims()));
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    if (shape.num_elements() == 0) return OkStatus();
    Strides from = RowMajorStrides(part), to = RowMajorStrides(shape);
    int64_t step = to[at];
    to.erase(to.begin() + at);
    for (int i = 0; i < ctx.num_inputs(); ++i) StridedCopy(part.dims(), ctx.input(i), 0, from, output, i * step, to);
    return OkStatus();
  }

  int64_t axis;
};

Status PackShape(ShapeContext& ctx) {
  PartialShape part = ctx.input(0);
  for (int i = 1; i < ctx.num_inputs(); ++i) {
    ASSIGN_OR_RETURN(part, PartialShape::Merge(part, ctx.input(i)));
  }
  if (!part.has_rank()) return OkStatus();
  ASSIGN_OR_RETURN(int at, StackAxis(ctx.attrs().GetInt("axis"), part.rank() + 1));
  std::vector<int64_t> sizes(part.dims().begin(), part.dims().end());
  sizes.insert(sizes.begin() + at, ctx.num_inputs());
  ctx.set_output(0, PartialShape(sizes));
  return OkStatus();
}

Status PackGradient(GradientScope& g) {
  return g.Return(g.OpList("Unpack", {g.grad(0)}, {{"num", g.num_inputs()}, {"axis", g.attrs().GetInt("axis")}}));
}

struct Unpack {
  explicit Unpack(const Attrs& attrs) : axis(attrs.GetInt("axis")) {}

  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    ASSIGN_OR_RETURN(int at, StackAxis(axis, input.shape().rank()));
    if (input.shape().dim(at) != ctx.num_outputs()) {
      return InvalidArgument("Input shape axis ", at, " must equal ", ctx.num_outputs(), ", got shape ", input.shape().ToString());
    }
    Shape part = input.shape();
    part.RemoveDim(at);
    Strides from = RowMajorStrides(input.shape()), to = RowMajorStrides(part);
    int64_t step = from[at];
    from.erase(from.begin() + at);
    for (int i = 0; i < ctx.num_outputs(); ++i) {
      if (at == 0) {
        Tensor row = input.Rows(i, i + 1);
        row.set_shape(part);
        ctx.set_output(i, std::move(row));
        continue;
      }
      ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(i, part));
      if (output->num_elements() == 0) continue;
      StridedCopy(part.dims(), input, i * step, from, output, 0, to);
    }
    return OkStatus();
  }

  int64_t axis;
};

Status UnpackShape(ShapeContext& ctx) {
  const PartialShape& input = ctx.input(0);
  if (!input.has_rank()) return OkStatus();
  ASSIGN_OR_RETURN(int at, StackAxis(ctx.attrs().GetInt("axis"), input.rank()));
  if (input.dim(at) != kUnknownSize && input.dim(at) != ctx.num_outputs()) {
    return InvalidArgument("Dimension must be ", ctx.num_outputs(), " but is ", input.dim(at), " in shape ", input.ToString());
  }
  std::vector<int64_t> sizes(input.dims().begin(), input.dims().end());
  sizes.erase(sizes.begin() + at);
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.set_output(i, PartialShape(sizes));
  return OkStatus();
}

Status UnpackGradient(GradientScope& g) {
  std::vector<Output> parts;
  int count = static_cast<int>(g.node().output_types.size());
  for (int i = 0; i < count; ++i) parts.push_back(g.grad(i));
  if (parts.empty()) return g.Return({Output()});
  return g.Return({g.Op("Pack", parts, {{"axis", g.attrs().GetInt("axis")}})});
}

DEFINE_OP("Pack")
    .Input("values: N * T")
    .Output("output: T")
    .Attr("N: int >= 1")
    .Attr("T: type")
    .Attr("axis: int = 0")
    .Shape(PackShape)
    .Cpu(AnyType<Pack>())
    .Gradient(PackGradient);

DEFINE_OP("Unpack")
    .Input("value: T")
    .Output("output: num * T")
    .Attr("num: int >= 0")
    .Attr("T: type")
    .Attr("axis: int = 0")
    .Shape(UnpackShape)
    .Cpu(AnyType<Unpack>())
    .Gradient(UnpackGradient);

}  // namespace
}  // namespace tandem
