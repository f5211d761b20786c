// Concat, ConcatV2, ConcatOffset: tensors one after the other along an axis.
#include <vector>

#include "graph/gradient.h"
#include "graph/node.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"
#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

StatusOr<int> ConcatAxis(int64_t axis, int rank) {
  if (rank == 0) return InvalidArgument("ConcatOp : Can't concatenate scalars (use tf.stack instead)");
  if (axis < -rank || axis >= rank) {
    return InvalidArgument("ConcatOp : Expected concatenating dimensions in the range [", -rank, ", ", rank, "), but got ", axis);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

// Concat has the axis first, ConcatV2 last.
struct Concat {
  explicit Concat(const Attrs& attrs) : is_axis_first(attrs.op() == "Concat") {}

  Status Run(KernelContext& ctx) const {
    int count = ctx.num_inputs() - 1, first = is_axis_first ? 1 : 0;
    const Tensor& axis_input = ctx.input(is_axis_first ? 0 : count);
    if (axis_input.num_elements() != 1) return InvalidArgument("ConcatOp : concat_dim must be a scalar, got shape ", axis_input.shape().ToString());
    ASSIGN_OR_RETURN(int64_t axis, ReadScalar(axis_input, "concat_dim"));
    Shape shape = ctx.input(first).shape();
    ASSIGN_OR_RETURN(int at, ConcatAxis(axis, shape.rank()));
    int64_t total = 0;
    for (int i = 0; i < count; ++i) {
      const Shape& part = ctx.input(first + i).shape();
      bool is_same = part.rank() == shape.rank();
      for (int k = 0; is_same && k < part.rank(); ++k) is_same = k == at || part.dim(k) == shape.dim(k);
      if (part.rank() != shape.rank()) {
        return InvalidArgument("ConcatOp : Ranks of all input tensors should match: shape[0] = ", shape.ToString(), " vs. shape[", i,
                               "] = ", part.ToString());
      }
      if (!is_same) {
        return InvalidArgument("ConcatOp : Dimension ", MismatchedDim(part, shape, at), " in both shapes must be equal: shape[0] = ", shape.ToString(),
                               " vs. shape[", i, "] = ", part.ToString());
      }
      if (__builtin_add_overflow(total, part.dim(at), &total)) return InvalidArgument("ConcatOp : the result is too large");
    }
    shape.set_dim(at, total);
    ASSIGN_OR_RETURN(shape, Shape::Checked(shape.dims()));
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    if (shape.num_elements() == 0) return OkStatus();
    Strides to = RowMajorStrides(shape);
    int64_t begin = 0;
    for (int i = 0; i < count; ++i) {
      const Tensor& part = ctx.input(first + i);
      StridedCopy(part.shape().dims(), part, 0, RowMajorStrides(part.shape()), output, begin * to[at], to);
      begin += part.shape().dim(at);
    }
    return OkStatus();
  }

  static int MismatchedDim(const Shape& part, const Shape& other, int at) {
    int k = 0;
    while (k == at || part.dim(k) == other.dim(k)) ++k;
    return k;
  }

  bool is_axis_first;
};

Status ConcatShape(ShapeContext& ctx, int axis_input, int first) {
  int count = ctx.num_inputs() - 1;
  int64_t axis;
  bool is_known = ConstantScalar(ctx, axis_input, &axis);
  int rank = -1;
  for (int i = 0; i < count; ++i) {
    const PartialShape& part = ctx.input(first + i);
    if (!part.has_rank()) continue;
    if (rank >= 0 && part.rank() != rank) {
      return InvalidArgument("Shapes to concatenate must have the same rank, got ", rank, " and ", part.ToString());
    }
    rank = part.rank();
  }
  if (rank < 0) return OkStatus();
  if (!is_known) {
    ctx.set_output(0, PartialShape::UnknownOfRank(rank));
    return OkStatus();
  }
  ASSIGN_OR_RETURN(int at, ConcatAxis(axis, rank));
  PartialShape others;
  int64_t total = 0;
  for (int i = 0; i < count; ++i) {
    PartialShape part = ctx.input(first + i);
    if (!part.has_rank()) {
      total = kUnknownSize;
      continue;
    }
    if (total == kUnknownSize || part.dim(at) == kUnknownSize || __builtin_add_overflow(total, part.dim(at), &total)) total = kUnknownSize;
    part.set_dim(at, kUnknownSize);
    ASSIGN_OR_RETURN(others, PartialShape::Merge(others, part));
  }
  others.set_dim(at, total);
  ctx.set_output(0, others);
  return OkStatus();
}

Status ConcatV1Shape(ShapeContext& ctx) { return ConcatShape(ctx, 0, 1); }
Status ConcatV2Shape(ShapeContext& ctx) { return ConcatShape(ctx, ctx.num_inputs() - 1, 0); }

// Each part gets its slice of the gradient; ConcatOffset says where it starts.
Status ConcatGradient(GradientScope& g) {
  int count = g.num_inputs() - 1;
  bool is_axis_first = g.node().op_name() == "Concat";
  int first = is_axis_first ? 1 : 0;
  Output axis = g.input(is_axis_first ? 0 : count);
  if (axis.dtype() != kInt32) axis = g.Op("Cast", {axis}, {{"DstT", kInt32}});
  std::vector<Output> offset_inputs, shapes;
  for (int i = 0; i < count; ++i) shapes.push_back(g.ShapeOf(g.input(first + i)));
  offset_inputs.push_back(axis);
  offset_inputs.insert(offset_inputs.end(), shapes.begin(), shapes.end());
  std::vector<Output> offsets = g.OpList("ConcatOffset", offset_inputs, {{"N", count}});
  std::vector<Output> gradients(g.num_inputs());
  for (int i = 0; i < count && i < static_cast<int>(offsets.size()); ++i) gradients[first + i] = g.Op("Slice", {g.grad(0), offsets[i], shapes[i]});
  return g.Return(gradients);
}

struct ConcatOffset {
  Status Run(KernelContext& ctx) const {
    int count = ctx.num_inputs() - 1;
    if (!ctx.input(0).shape().is_scalar()) {
      return InvalidArgument("Concat dim tensor should be a scalar integer, but got shape ", ctx.input(0).shape().ToString());
    }
    ASSIGN_OR_RETURN(int64_t axis, ReadScalar(ctx.input(0), "concat_dim"));
    for (int i = 0; i < count; ++i) {
      if (ctx.input(1 + i).shape().rank() != 1) return InvalidArgument("input ", i, " should be a vector, but got shape ", ctx.input(1 + i).shape().ToString());
    }
    ASSIGN_OR_RETURN(Integers first, ReadIntegers(ctx.input(1)));
    int rank = static_cast<int>(first.size());
    if (axis < -rank || axis >= rank) return InvalidArgument("Concat dim is out of range: ", axis, " vs. ", rank);
    int at = static_cast<int>(axis < 0 ? axis + rank : axis);
    Integers offset(rank, 0);
    for (int i = 0; i < count; ++i) {
      ASSIGN_OR_RETURN(Integers part, ReadIntegers(ctx.input(1 + i)));
      if (part.size() != first.size()) return InvalidArgument("input ", i, " should contain ", rank, " elements, but got ", part.size());
      for (int k = 0; k < rank; ++k) {
        if (k != at && part[k] != first[k]) {
          return InvalidArgument("All dimensions except ", at, " must match. Input ", i, " has shape ", Shape(part).ToString(),
                                 " and doesn't match input 0 with shape ", Shape(first).ToString(), ".");
        }
      }
      ASSIGN_OR_RETURN(Tensor made, MakeVector(ctx.output_type(i), offset));
      ctx.set_output(i, std::move(made));
      if (__builtin_add_overflow(offset[at], part[at], &offset[at])) return InvalidArgument("the sizes along dimension ", at, " add up to too much");
    }
    return OkStatus();
  }
};

Status ConcatOffsetShape(ShapeContext& ctx) {
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.set_output(i, ctx.input(1 + i));
  return OkStatus();
}

DEFINE_OP("Concat")
    .Input("concat_dim: int32")
    .Input("values: N * T")
    .Output("output: T")
    .Attr("N: int >= 2")
    .Attr("T: type")
    .Shape(ConcatV1Shape)
    .Cpu(AnyType<Concat>())
    .Gradient(ConcatGradient);

DEFINE_OP("ConcatV2")
    .Input("values: N * T")
    .Input("axis: Tidx")
    .Output("output: T")
    .Attr("N: int >= 2")
    .Attr("T: type")
    .Attr("Tidx: IDX = int32")
    .Shape(ConcatV2Shape)
    .Cpu(AnyType<Concat>())
    .Gradient(ConcatGradient);

DEFINE_OP("ConcatOffset")
    .Input("concat_dim: int32")
    .Input("shape: N * shape_type")
    .Output("offset: N * shape_type")
    .Attr("N: int >= 2")
    .Attr("shape_type: IDX = int32")
    .Shape(ConcatOffsetShape)
    .Cpu(AnyType<ConcatOffset>())
    .NoGradient();

}  // namespace
}  // namespace tandem
