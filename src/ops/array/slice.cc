// Slice: a box out of a tensor.
#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"
#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

struct Slice {
  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    const Shape& shape = input.shape();
    for (int i = 1; i <= 2; ++i) {
      if (ctx.input(i).shape().rank() != 1 || ctx.input(i).num_elements() != shape.rank()) {
        return InvalidArgument("Expected begin and size arguments to be 1-D tensors of size ", shape.rank(), ", but got shapes ",
                               ctx.input(1).shape().ToString(), " and ", ctx.input(2).shape().ToString(), " instead.");
      }
    }
    ASSIGN_OR_RETURN(Integers begin, ReadIntegers(ctx.input(1)));
    ASSIGN_OR_RETURN(Integers size, ReadIntegers(ctx.input(2)));
    bool is_rows = true;  // whole rows of dimension 0 share the input's buffer
    for (int i = 0; i < shape.rank(); ++i) {
      if (begin[i] < 0 || begin[i] > shape.dim(i)) {
        return InvalidArgument("Expected begin[", i, "] in [0, ", shape.dim(i), "], but got ", begin[i]);
      }
      if (size[i] == -1) size[i] = shape.dim(i) - begin[i];
      if (size[i] < 0 || size[i] > shape.dim(i) - begin[i]) {
        return InvalidArgument("Expected size[", i, "] in [0, ", shape.dim(i) - begin[i], "], but got ", size[i]);
      }
      is_rows = is_rows && (i == 0 || size[i] == shape.dim(i));
    }
    if (is_rows) {
      ctx.set_output(0, shape.is_scalar() ? input : input.Rows(begin[0], begin[0] + size[0]));
      return OkStatus();
    }
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, Shape(size)));
    if (output->num_elements() == 0) return OkStatus();
    Strides strides = RowMajorStrides(shape);
    int64_t offset = 0;
    for (int i = 0; i < shape.rank(); ++i) offset += begin[i] * strides[i];
    StridedCopy(size, input, offset, strides, output, 0, RowMajorStrides(output->shape()));
    return OkStatus();
  }
};

Status SliceShape(ShapeContext& ctx) {
  PartialShape input = ctx.input(0);
  for (int i : {1, 2}) {
    if (!input.has_rank() && ctx.input(i).rank() == 1 && ctx.input(i).dim(0) >= 0 && ctx.input(i).dim(0) <= kMaxRank) {
      input = PartialShape::UnknownOfRank(static_cast<int>(ctx.input(i).dim(0)));
    }
  }
  if (!input.has_rank()) return OkStatus();
  Integers begin, size;
  bool is_begin_known = ConstantVector(ctx, 1, &begin), is_size_known = ConstantVector(ctx, 2, &size);
  int rank = input.rank();
  if ((is_begin_known && static_cast<int>(begin.size()) != rank) || (is_size_known && static_cast<int>(size.size()) != rank)) {
    return InvalidArgument("Expected begin and size arguments to be 1-D tensors of size ", rank, ", but got ", begin.size(), " and ", size.size());
  }
  PartialShape output = PartialShape::UnknownOfRank(rank);
  for (int i = 0; i < rank; ++i) {
    if (!is_size_known) continue;
    if (size[i] >= 0) {
      if (is_begin_known && input.dim(i) != kUnknownSize && (begin[i] < 0 || begin[i] > input.dim(i) || size[i] > input.dim(i) - begin[i])) {
        return InvalidArgument("Expected begin[", i, "] and size[", i, "] inside [0, ", input.dim(i), "], but got ", begin[i], " and ", size[i]);
      }
      output.set_dim(i, size[i]);
    } else if (size[i] == -1 && is_begin_known && begin[i] >= 0 && input.dim(i) >= begin[i]) {
      output.set_dim(i, input.dim(i) - begin[i]);
    }
  }
  ctx.set_output(0, output);
  return OkStatus();
}

// Pads the gradient with zeros up to the input's shape.
Status SliceGradient(GradientScope& g) {
  DataType index_type = g.input(1).dtype();
  Output begin = g.input(1);
  Output input_shape = g.Op("Shape", {g.input(0)}, {{"out_type", index_type}});
  Output slice_shape = g.Op("Shape", {g.output(0)}, {{"out_type", index_type}});
  Output after = g.Sub(g.Sub(input_shape, slice_shape), begin);
  Output paddings = g.Op("Pack", {begin, after}, {{"axis", 1}});
  return g.Return({g.Op("Pad", {g.grad(0), paddings}), Output(), Output()});
}

DEFINE_OP("Slice")
    .Input("input: T")
    .Input("begin: Index")
    .Input("size: Index")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Index: IDX")
    .Shape(SliceShape)
    .Cpu(AnyType<Slice>())
    .Gradient(SliceGradient);

}  // namespace
}  // namespace tandem
