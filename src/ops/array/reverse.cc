// Reverse, ReverseV2, ReverseSequence: elements in the opposite order.
#include <vector>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"
#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

Status ReverseAxes(KernelContext& ctx, const std::vector<bool>& is_reversed) {
  const Tensor& input = ctx.input(0);
  ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, input.shape()));
  if (input.num_elements() == 0) return OkStatus();
  Strides to = RowMajorStrides(input.shape()), from = to;
  int64_t offset = 0;
  for (int i = 0; i < input.shape().rank(); ++i) {
    if (!is_reversed[i]) continue;
    offset += from[i] * (input.shape().dim(i) - 1);
    from[i] = -from[i];
  }
  StridedCopy(input.shape().dims(), input, offset, from, output, 0, to);
  return OkStatus();
}

struct Reverse {
  Status Run(KernelContext& ctx) const {
    const Tensor& dims = ctx.input(1);
    int rank = ctx.input(0).shape().rank();
    if (dims.shape().rank() != 1) return InvalidArgument("'dims' must be 1-dimension, not ", dims.shape().rank());
    if (dims.num_elements() != rank) {
      return InvalidArgument("'dims' must have the same number of values as 'input' has dimensions. 'input' has ", rank, "'dims' has ", dims.num_elements(),
                             " values");
    }
    return ReverseAxes(ctx, std::vector<bool>(dims.values<bool>().begin(), dims.values<bool>().end()));
  }
};

struct ReverseV2 {
  Status Run(KernelContext& ctx) const {
    int rank = ctx.input(0).shape().rank();
    if (ctx.input(1).shape().rank() != 1) return InvalidArgument("'dims' must be 1-dimension, not ", ctx.input(1).shape().rank());
    ASSIGN_OR_RETURN(Integers axes, ReadIntegers(ctx.input(1)));
    std::vector<bool> is_reversed(rank, false);
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i] < -rank || axes[i] >= rank) return InvalidArgument("'axis'[", i, "] = ", axes[i], " is out of valid range [", 0, ", ", rank - 1, "]");
      int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
      if (is_reversed[axis]) return InvalidArgument("axis ", axis, " specified more than once.");
      is_reversed[axis] = true;
    }
    return ReverseAxes(ctx, is_reversed);
  }
};

Status ReverseGradient(GradientScope& g) { return g.Return({g.Op("Reverse", {g.grad(0), g.input(1)}), Output()}); }
Status ReverseV2Gradient(GradientScope& g) { return g.Return({g.Op("ReverseV2", {g.grad(0), g.input(1)}), Output()}); }

// Along seq_dim the first seq_lengths[b] elements of batch entry b change their order, the others stay.
struct ReverseSequence {
  explicit ReverseSequence(const Attrs& attrs) : batch_dim(attrs.GetInt("batch_dim")), seq_dim(attrs.GetInt("seq_dim")) {}

  Status Run(KernelContext& ctx) const {
    const Tensor &input = ctx.input(0), &lengths_input = ctx.input(1);
    const Shape& shape = input.shape();
    if (lengths_input.shape().rank() != 1) return InvalidArgument("seq_lens input must be 1-dim, not ", lengths_input.shape().rank());
    if (batch_dim == seq_dim) return InvalidArgument("batch_dim == seq_dim == ", seq_dim);
    if (seq_dim < 0 || seq_dim >= shape.rank()) return InvalidArgument("seq_dim must be < input rank ( ", seq_dim, " vs. ", shape.rank(), ")");
    if (batch_dim < 0 || batch_dim >= shape.rank()) return InvalidArgument("batch_dim must be < input rank ( ", batch_dim, " vs. ", shape.rank(), ")");
    if (lengths_input.num_elements() != shape.dim(batch_dim)) {
      return InvalidArgument("Length of seq_lengths != input.dims(", batch_dim, "), (", lengths_input.num_elements(), " vs. ", shape.dim(batch_dim), ")");
    }
    ASSIGN_OR_RETURN(Integers lengths, ReadIntegers(lengths_input));
    for (size_t i = 0; i < lengths.size(); ++i) {
      if (lengths[i] < 0) return InvalidArgument("seq_lens(", i, ") < 0");
      if (lengths[i] > shape.dim(seq_dim)) return InvalidArgument("seq_lens(", i, ") > input.dims(", seq_dim, ")");
    }
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    if (shape.num_elements() == 0) return OkStatus();
    Strides strides = RowMajorStrides(shape), backwards = strides, sizes(shape.dims().begin(), shape.dims().end());
    backwards[seq_dim] = -strides[seq_dim];
    sizes[batch_dim] = 1;
    for (size_t b = 0; b < lengths.size(); ++b) {
      int64_t first = static_cast<int64_t>(b) * strides[batch_dim], turned = lengths[b] * strides[seq_dim];
      sizes[seq_dim] = lengths[b];
      if (lengths[b] > 0) StridedCopy(sizes, input, first + turned - strides[seq_dim], backwards, output, first, strides);
      sizes[seq_dim] = shape.dim(seq_dim) - lengths[b];
      StridedCopy(sizes, input, first + turned, strides, output, first + turned, strides);
    }
    return OkStatus();
  }

  int64_t batch_dim, seq_dim;
};

Status ReverseSequenceGradient(GradientScope& g) {
  return g.Return({g.Op("ReverseSequence", {g.grad(0), g.input(1)}, {{"batch_dim", g.attrs().GetInt("batch_dim")}, {"seq_dim", g.attrs().GetInt("seq_dim")}}),
                   Output()});
}

DEFINE_OP("Reverse")
    .Input("tensor: T")
    .Input("dims: bool")
    .Output("output: T")
    .Attr("T: ARITH + {bool, string}")
    .Shape(SameAsInput0)
    .Cpu(AnyType<Reverse>())
    .Gradient(ReverseGradient);

DEFINE_OP("ReverseV2")
    .Input("tensor: T")
    .Input("axis: Tidx")
    .Output("output: T")
    .Attr("Tidx: IDX = int32")
    .Attr("T: ARITH + {bool, string}")
    .Shape(SameAsInput0)
    .Cpu(AnyType<ReverseV2>())
    .Gradient(ReverseV2Gradient);

DEFINE_OP("ReverseSequence")
    .Input("input: T")
    .Input("seq_lengths: Tlen")
    .Output("output: T")
    .Attr("seq_dim: int")
    .Attr("batch_dim: int = 0")
    .Attr("T: type")
    .Attr("Tlen: IDX = int64")
    .Shape(SameAsInput0)
    .Cpu(AnyType<ReverseSequence>())
    .Gradient(ReverseSequenceGradient);

}  // namespace
}  // namespace tandem
