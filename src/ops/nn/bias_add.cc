// BiasAdd adds a vector along the channel dimension: the last one (NHWC), or dimension 1 (NCHW).
#include "graph/gradient.h"
#include "ops/nn/activation.h"

namespace tandem {
namespace {

// A tensor around its channel dimension.
struct Channels {
  int64_t outer, channels, inner;
};

StatusOr<Channels> SplitAtChannels(const Shape& shape, bool is_nchw) {
  if (shape.rank() < 2) return InvalidArgument("Input tensor must be at least 2D: ", shape.ToString());
  const int channel_dim = is_nchw ? 1 : shape.rank() - 1;
  Channels split{1, shape.dim(channel_dim), 1};
  for (int i = 0; i < channel_dim; ++i) split.outer *= shape.dim(i);
  for (int i = channel_dim + 1; i < shape.rank(); ++i) split.inner *= shape.dim(i);
  return split;
}

bool IsNchw(const Attrs& attrs) { return attrs.Has("data_format") && attrs.GetString("data_format") == "NCHW"; }

struct BiasAdd {
  explicit BiasAdd(const Attrs& attrs) : is_nchw(IsNchw(attrs)) {}

  template <typename T>
  Status Run(KernelContext& ctx) const {
    const Tensor &value = ctx.input(0), &bias = ctx.input(1);
    ASSIGN_OR_RETURN(const Channels split, SplitAtChannels(value.shape(), is_nchw));
    if (bias.shape().rank() != 1) return InvalidArgument("Biases must be 1D: ", bias.shape().ToString());
    if (bias.num_elements() != split.channels) {
      return InvalidArgument("Must provide as many biases as the ", is_nchw ? "channel" : "last", " dimension of the input tensor: ", bias.shape().ToString(),
                             " vs. ", value.shape().ToString());
    }
    ASSIGN_OR_RETURN(Tensor * output, ctx.ForwardOrAllocate({0}, 0, value.shape()));
    const T* from = value.data<T>();
    const T* b = bias.data<T>();
    T* to = output->mutable_data<T>();
    if (split.inner == 1) {
      for (int64_t row = 0; row < split.outer; ++row, from += split.channels, to += split.channels) {
#pragma GCC ivdep
        for (int64_t c = 0; c < split.channels; ++c) to[c] = static_cast<T>(from[c] + b[c]);
      }
      return OkStatus();
    }
    for (int64_t row = 0; row < split.outer; ++row) {
      for (int64_t c = 0; c < split.channels; ++c, from += split.inner, to += split.inner) {
        const T add = b[c];
#pragma GCC ivdep
        for (int64_t i = 0; i < split.inner; ++i) to[i] = static_cast<T>(from[i] + add);
      }
    }
    return OkStatus();
  }

  const bool is_nchw;
};

struct BiasAddGrad {
  explicit BiasAddGrad(const Attrs& attrs) : is_nchw(IsNchw(attrs)) {}

  template <typename T>
  Status Run(KernelContext& ctx) const {
    using C = ComputeType<T>;
    const Tensor& gradient = ctx.input(0);
    ASSIGN_OR_RETURN(const Channels split, SplitAtChannels(gradient.shape(), is_nchw));
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, Shape{split.channels}));
    ASSIGN_OR_RETURN(Tensor sums, ctx.AllocateTemporary(DataTypeOf<C>::value, Shape{split.channels}));
    const T* from = gradient.data<T>();
    C* sum = sums.mutable_data<C>();
    std::fill_n(sum, split.channels, C(0));
    for (int64_t row = 0; row < split.outer; ++row) {
      if (split.inner == 1) {
#pragma GCC ivdep
        for (int64_t c = 0; c < split.channels; ++c) sum[c] = static_cast<C>(sum[c] + static_cast<C>(from[c]));
        from += split.channels;
        continue;
      }
      for (int64_t c = 0; c < split.channels; ++c) {
        C total(0);
        for (int64_t i = 0; i < split.inner; ++i) total = static_cast<C>(total + static_cast<C>(from[i]));
        sum[c] = static_cast<C>(sum[c] + total);
        from += split.inner;
      }
    }
    T* to = output->mutable_data<T>();
    for (int64_t c = 0; c < split.channels; ++c) to[c] = static_cast<T>(sum[c]);
    return OkStatus();
  }

  const bool is_nchw;
};

Status BiasAddShape(ShapeContext& ctx) {
  PartialShape shape = ctx.input(0);
  const PartialShape& bias = ctx.input(1);
  if (shape.has_rank() && shape.rank() < 2) return InvalidArgument("Shape must be at least rank 2 but is rank ", shape.rank());
  if (bias.has_rank() && bias.rank() != 1) return InvalidArgument("Shape must be rank 1 but is rank ", bias.rank());
  if (shape.has_rank() && bias.has_rank()) {
    const int channel_dim = IsNchw(ctx.attrs()) ? 1 : shape.rank() - 1;
    const int64_t have = shape.dim(channel_dim), want = bias.dim(0);
    if (have == kUnknownSize) {
      shape.set_dim(channel_dim, want);
    } else if (want != kUnknownSize && have != want) {
      return InvalidArgument("Dimensions must be equal, but are ", have, " and ", want, " for a value of shape ", shape.ToString(), " and a bias of shape ",
                             bias.ToString());
    }
  }
  ctx.set_output(0, shape);
  return OkStatus();
}

Status BiasAddGradShape(ShapeContext& ctx) {
  const PartialShape& shape = ctx.input(0);
  if (!shape.has_rank()) {
    ctx.set_output(0, PartialShape{kUnknownSize});
    return OkStatus();
  }
  if (shape.rank() < 2) return InvalidArgument("Shape must be at least rank 2 but is rank ", shape.rank());
  ctx.set_output(0, PartialShape{shape.dim(IsNchw(ctx.attrs()) ? 1 : shape.rank() - 1)});
  return OkStatus();
}

std::vector<NamedAttr> DataFormat(const GradientScope& g) {
  if (!g.attrs().Has("data_format")) return {};
  return {{"data_format", AttrValue(g.attrs().GetString("data_format"))}};
}

Status BiasAddGradient(GradientScope& g) { return g.Return({g.grad(0), g.Op("BiasAddGrad", {g.grad(0)}, DataFormat(g))}); }

// The sum over all but the channels spreads its gradient over them: a bias added to zeros.
Status BiasAddGradGradient(GradientScope& g) { return g.Return({g.Op("BiasAdd", {g.Op("ZerosLike", {g.input(0)}), g.grad(0)}, DataFormat(g))}); }

DEFINE_OP("BiasAdd")
    .Input("value: T")
    .Input("bias: T")
    .Output("output: T")
    .Attr("T: NUM")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Shape(BiasAddShape)
    .Cpu(ForArithmetic<BiasAdd>())
    .Gradient(BiasAddGradient);

DEFINE_OP("BiasAddV1")
    .Input("value: T")
    .Input("bias: T")
    .Output("output: T")
    .Attr("T: NUM")
    .Shape(BiasAddShape)
    .Cpu(ForArithmetic<BiasAdd>())
    .Gradient(BiasAddGradient);

DEFINE_OP("BiasAddGrad")
    .Input("out_backprop: T")
    .Output("output: T")
    .Attr("T: NUM")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Shape(BiasAddGradShape)
    .Cpu(ForArithmetic<BiasAddGrad>())
    .Gradient(BiasAddGradGradient);

}  // namespace
}  // namespace tandem
