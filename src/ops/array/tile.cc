// Tile, BroadcastTo, BroadcastArgs: one tensor repeated.
#include <algorithm>
#include <vector>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"
#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

struct Tile {
  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    const Shape& shape = input.shape();
    if (ctx.input(1).shape().rank() != 1) return InvalidArgument("Expected multiples to be 1-D, but got shape ", ctx.input(1).shape().ToString());
    ASSIGN_OR_RETURN(Integers multiples, ReadIntegers(ctx.input(1)));
    if (static_cast<int>(multiples.size()) != shape.rank()) {
      return InvalidArgument("Expected multiples argument to be a vector of length ", shape.rank(), " but got length ", multiples.size());
    }
    Integers tiled;
    for (int i = 0; i < shape.rank(); ++i) {
      if (multiples[i] < 0) return InvalidArgument("Expected multiples[", i, "] >= 0, but got ", multiples[i]);
      tiled.push_back(0);
      if (__builtin_mul_overflow(shape.dim(i), multiples[i], &tiled[i])) return InvalidArgument("the tiled tensor is too large");
    }
    ASSIGN_OR_RETURN(Shape output_shape, Shape::Checked(tiled));
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, output_shape));
    if (output_shape.num_elements() == 0) return OkStatus();
    // The output seen as [m0, d0, m1, d1, …].
    Strides sizes, from, to, input_strides = RowMajorStrides(shape), output_strides = RowMajorStrides(output_shape);
    for (int i = 0; i < shape.rank(); ++i) {
      sizes.insert(sizes.end(), {multiples[i], shape.dim(i)});
      from.insert(from.end(), {0, input_strides[i]});
      to.insert(to.end(), {output_strides[i] * shape.dim(i), output_strides[i]});
    }
    StridedCopy(sizes, input, 0, from, output, 0, to);
    return OkStatus();
  }
};

Status TileShape(ShapeContext& ctx) {
  PartialShape input = ctx.input(0), multiples = ctx.ConstantAsShape(1);
  if (!input.has_rank() && !multiples.has_rank()) return OkStatus();
  if (!input.has_rank()) input = PartialShape::UnknownOfRank(multiples.rank());
  if (!multiples.has_rank()) multiples = PartialShape::UnknownOfRank(input.rank());
  if (multiples.rank() != input.rank()) {
    return InvalidArgument("Expected multiples argument to be a vector of length ", input.rank(), " but got length ", multiples.rank());
  }
  for (int i = 0; i < input.rank(); ++i) {
    int64_t size = kUnknownSize;
    if (input.dim(i) >= 0 && multiples.dim(i) >= 0 && __builtin_mul_overflow(input.dim(i), multiples.dim(i), &size)) {
      return InvalidArgument("the tiled tensor is too large");
    }
    input.set_dim(i, size);
  }
  ctx.set_output(0, input);
  return OkStatus();
}

// Sums over the repeats: the gradient seen as [m0, d0, m1, d1, …], summed over every other axis.
Status TileGradient(GradientScope& g) {
  Output shape = g.Op("Shape", {g.input(0)}, {{"out_type", g.input(1).dtype()}});
  Output minus_one = g.Const(Tensor(std::vector<int32_t>{-1}));
  Output split = g.Op("Reshape", {g.Op("Pack", {g.input(1), shape}, {{"axis", 1}}), minus_one});
  Output axes = g.Op("Range", {g.Scalar(0, kInt32), g.Op("Size", {split}), g.Scalar(2, kInt32)});
  Output sum = g.Op("Sum", {g.Op("Reshape", {g.grad(0), split}), axes});
  return g.Return({g.Op("Reshape", {sum, shape}), Output()});
}

struct BroadcastTo {
  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    if (ctx.input(1).shape().rank() > 1) return InvalidArgument("shape must be a vector of {int32,int64}, got shape ", ctx.input(1).shape().ToString());
    ASSIGN_OR_RETURN(Integers sizes, ReadIntegers(ctx.input(1)));
    for (int64_t size : sizes) {
      if (size < 0) return InvalidArgument("Dimension ", size, " must be >= 0");
    }
    ASSIGN_OR_RETURN(Shape shape, Shape::Checked(sizes));
    if (shape == input.shape()) {
      ctx.set_output(0, ctx.TakeInput(0));
      return OkStatus();
    }
    int extra = shape.rank() - input.shape().rank();
    if (extra < 0) {
      return InvalidArgument("Rank of input (", input.shape().rank(), ") must be no greater than rank of output shape (", shape.rank(), ").");
    }
    Strides from(extra, 0), input_strides = RowMajorStrides(input.shape());
    for (int i = 0; i < input.shape().rank(); ++i) {
      bool is_repeated = input.shape().dim(i) == 1;
      if (!is_repeated && input.shape().dim(i) != shape.dim(extra + i)) {
        return InvalidArgument("Incompatible shapes: ", input.shape().ToString(), " vs. ", shape.ToString());
      }
      from.push_back(is_repeated ? 0 : input_strides[i]);
    }
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    StridedCopy(shape.dims(), input, 0, from, output, 0, RowMajorStrides(shape));
    return OkStatus();
  }
};

Status BroadcastToShape(ShapeContext& ctx) {
  PartialShape shape = ctx.ConstantAsShape(1);
  const PartialShape& input = ctx.input(0);
  if (shape.has_rank() && input.has_rank()) {
    int extra = shape.rank() - input.rank();
    if (extra < 0) return InvalidArgument("Rank of input (", input.rank(), ") must be no greater than rank of output shape (", shape.rank(), ").");
    for (int i = 0; i < input.rank(); ++i) {
      int64_t from = input.dim(i), to = shape.dim(extra + i);
      if (from > 1 && to >= 0 && from != to) return InvalidArgument("Incompatible shapes: ", input.ToString(), " vs. ", shape.ToString());
      if (from > 1 && to < 0) shape.set_dim(extra + i, from);
    }
  }
  ctx.set_output(0, shape);
  return OkStatus();
}

Status BroadcastToGradient(GradientScope& g) {
  Output shape = g.Op("Shape", {g.input(0)}, {{"out_type", g.input(1).dtype()}});
  std::vector<Output> axes = g.OpList("BroadcastGradientArgs", {shape, g.input(1)});
  if (axes.empty()) return g.Return({});
  Output sum = g.Op("Sum", {g.grad(0), axes[0]}, {{"keep_dims", true}});
  return g.Return({g.Op("Reshape", {sum, shape}), Output()});
}

struct BroadcastArgs {
  Status Run(KernelContext& ctx) const {
    for (int i : {0, 1}) {
      if (ctx.input(i).shape().rank() != 1) return InvalidArgument("In[", i, "] must be a vector.", ctx.input(i).shape().ToString());
    }
    ASSIGN_OR_RETURN(Integers a, ReadIntegers(ctx.input(0)));
    ASSIGN_OR_RETURN(Integers b, ReadIntegers(ctx.input(1)));
    size_t rank = std::max(a.size(), b.size());
    Integers both(rank);
    for (size_t i = 0; i < rank; ++i) {  // counted from the last dimension
      int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
      if (x != y && x != 1 && y != 1) return InvalidArgument("Incompatible shapes: ", Shape(a).ToString(), " vs. ", Shape(b).ToString());
      both[rank - 1 - i] = x == 1 ? y : x;
    }
    ASSIGN_OR_RETURN(Tensor made, MakeVector(ctx.output_type(0), both));
    ctx.set_output(0, std::move(made));
    return OkStatus();
  }
};

Status BroadcastArgsShape(ShapeContext& ctx) {
  int64_t a = ctx.input(0).rank() == 1 ? ctx.input(0).dim(0) : kUnknownSize, b = ctx.input(1).rank() == 1 ? ctx.input(1).dim(0) : kUnknownSize;
  ctx.set_output(0, PartialShape{a < 0 || b < 0 ? kUnknownSize : std::max(a, b)});
  return OkStatus();
}

DEFINE_OP("Tile")
    .Input("input: T")
    .Input("multiples: Tmultiples")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tmultiples: IDX = int32")
    .Shape(TileShape)
    .Cpu(AnyType<Tile>())
    .Gradient(TileGradient);

DEFINE_OP("BroadcastTo")
    .Input("input: T")
    .Input("shape: Tidx")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tidx: IDX = int32")
    .Shape(BroadcastToShape)
    .Cpu(AnyType<BroadcastTo>())
    .Gradient(BroadcastToGradient);

DEFINE_OP("BroadcastArgs")
    .Input("s0: T")
    .Input("s1: T")
    .Output("r0: T")
    .Attr("T: IDX = int32")
    .Shape(BroadcastArgsShape)
    .Cpu(AnyType<BroadcastArgs>())
    .NoGradient();

}  // namespace
}  // namespace tandem
