// Split into equal parts, SplitV into parts of given sizes.
#include <vector>

#include "graph/gradient.h"
#include "graph/node.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"
#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

StatusOr<int> SplitAxis(int64_t axis, int rank) {
  if (rank == 0) return InvalidArgument("Cannot split scalars");
  if (axis < -rank || axis >= rank) return InvalidArgument("-input rank(-", rank, ") <= split_dim < input rank (", rank, "), but got ", axis);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Status SplitInto(KernelContext& ctx, const Tensor& value, int at, const Integers& sizes) {
  if (sizes.size() == 1) {
    ctx.set_output(0, value);
    return OkStatus();
  }
  Strides from = RowMajorStrides(value.shape());
  int64_t begin = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (at == 0) {
      ctx.set_output(static_cast<int>(i), value.Rows(begin, begin + sizes[i]));
    } else {
      Shape part = value.shape();
      part.set_dim(at, sizes[i]);
      ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(static_cast<int>(i), part));
      if (output->num_elements() > 0) StridedCopy(part.dims(), value, begin * from[at], from, output, 0, RowMajorStrides(part));
    }
    begin += sizes[i];
  }
  return OkStatus();
}

struct Split {
  Status Run(KernelContext& ctx) const {
    const Tensor& value = ctx.input(1);
    ASSIGN_OR_RETURN(int64_t axis, ReadScalar(ctx.input(0), "split_dim"));
    ASSIGN_OR_RETURN(int at, SplitAxis(axis, value.shape().rank()));
    int64_t size = value.shape().dim(at);
    int count = ctx.num_outputs();
    if (size % count != 0) {
      return InvalidArgument("Number of ways to split should evenly divide the split dimension, but got split_dim ", at, " (size = ", size,
                             ") and num_split ", count);
    }
    return SplitInto(ctx, value, at, Integers(count, size / count));
  }
};

Status SplitShape(ShapeContext& ctx) {
  const PartialShape& value = ctx.input(1);
  if (!value.has_rank()) return OkStatus();
  int64_t axis;
  PartialShape part = PartialShape::UnknownOfRank(value.rank());
  if (ConstantScalar(ctx, 0, &axis)) {
    ASSIGN_OR_RETURN(int at, SplitAxis(axis, value.rank()));
    part = value;
    if (value.dim(at) != kUnknownSize && value.dim(at) % ctx.num_outputs() != 0) {
      return InvalidArgument("Number of ways to split should evenly divide the split dimension, but got split_dim ", at, " (size = ", value.dim(at),
                             ") and num_split ", ctx.num_outputs());
    }
    if (value.dim(at) != kUnknownSize) part.set_dim(at, value.dim(at) / ctx.num_outputs());
  }
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.set_output(i, part);
  return OkStatus();
}

Output JoinedGradients(GradientScope& g, Output axis) {
  std::vector<Output> parts;
  int count = static_cast<int>(g.node().output_types.size());
  for (int i = 0; i < count; ++i) parts.push_back(g.grad(i));
  if (count == 1) return parts[0];
  parts.push_back(axis);
  return g.Op("ConcatV2", parts, {{"N", count}});
}

Status SplitGradient(GradientScope& g) { return g.Return({Output(), JoinedGradients(g, g.input(0))}); }

struct SplitV {
  Status Run(KernelContext& ctx) const {
    const Tensor& value = ctx.input(0);
    ASSIGN_OR_RETURN(int64_t axis, ReadScalar(ctx.input(2), "split_dim"));
    ASSIGN_OR_RETURN(int at, SplitAxis(axis, value.shape().rank()));
    int count = ctx.num_outputs();
    if (ctx.input(1).shape().rank() != 1 || ctx.input(1).num_elements() != count) {
      return InvalidArgument("size of the split_tensor must be 1-D and have the same elements as outputs got ", ctx.input(1).shape().rank(), " -D and ",
                             ctx.input(1).num_elements(), " elements");
    }
    ASSIGN_OR_RETURN(Integers sizes, ReadIntegers(ctx.input(1)));
    int64_t size = value.shape().dim(at), known = 0;
    int unknown = -1;
    for (int i = 0; i < count; ++i) {
      if (sizes[i] == -1) {
        if (unknown >= 0) return InvalidArgument("There can only be one -1 in the input.");
        unknown = i;
      } else if (sizes[i] < 0) {
        return InvalidArgument("Split size at index ", i, " must be >= 0. Got: ", sizes[i]);
      } else if (__builtin_add_overflow(known, sizes[i], &known)) {
        return InvalidArgument("the split sizes add up to too much");
      }
    }
    if (unknown < 0 ? known != size : known > size) {
      return InvalidArgument("Determined shape must either match input shape along split_dim exactly if fully specified, or be less than the size of "
                             "the input along split_dim if not fully specified.  Got: ", known);
    }
    if (unknown >= 0) sizes[unknown] = size - known;
    return SplitInto(ctx, value, at, sizes);
  }
};

Status SplitVShape(ShapeContext& ctx) {
  const PartialShape& value = ctx.input(0);
  if (!value.has_rank()) return OkStatus();
  int64_t axis;
  bool is_axis_known = ConstantScalar(ctx, 2, &axis);
  int at = -1;
  if (is_axis_known) {
    ASSIGN_OR_RETURN(at, SplitAxis(axis, value.rank()));
  }
  Integers sizes;
  if (!ConstantVector(ctx, 1, &sizes)) sizes.clear();
  int64_t known = 0;
  for (int64_t size : sizes) {
    if (size > 0 && __builtin_add_overflow(known, size, &known)) return InvalidArgument("the split sizes add up to too much");
  }
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    if (!is_axis_known) {
      ctx.set_output(i, PartialShape::UnknownOfRank(value.rank()));
      continue;
    }
    PartialShape part = value;
    part.set_dim(at, kUnknownSize);
    if (i < static_cast<int>(sizes.size())) {
      if (sizes[i] >= 0) part.set_dim(at, sizes[i]);
      if (sizes[i] == -1 && value.dim(at) >= known) part.set_dim(at, value.dim(at) - known);
    } else if (ctx.num_outputs() == 1) {
      part.set_dim(at, value.dim(at));
    }
    ctx.set_output(i, part);
  }
  return OkStatus();
}

Status SplitVGradient(GradientScope& g) { return g.Return({JoinedGradients(g, g.input(2)), Output(), Output()}); }

DEFINE_OP("Split")
    .Input("split_dim: int32")
    .Input("value: T")
    .Output("output: num_split * T")
    .Attr("num_split: int >= 1")
    .Attr("T: type")
    .Shape(SplitShape)
    .Cpu(AnyType<Split>())
    .Gradient(SplitGradient);

DEFINE_OP("SplitV")
    .Input("value: T")
    .Input("size_splits: Tlen")
    .Input("split_dim: int32")
    .Output("output: num_split * T")
    .Attr("num_split: int >= 1")
    .Attr("T: type")
    .Attr("Tlen: {int8, int32, int64} = int64")
    .Shape(SplitVShape)
    .Cpu(AnyType<SplitV>())
    .Gradient(SplitVGradient);

}  // namespace
}  // namespace tandem
