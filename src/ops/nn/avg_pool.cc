// AvgPool: the mean of the real values of each window; padding does not count.
#include <vector>

#include "graph/gradient.h"
#include "graph/shape_inference.h"
#include "ops/nn/layout.h"
#include "ops/nn/pooling.h"

namespace tandem {
namespace {

template <typename C>
void FillMeans(const PoolGeometry& g, const C* in, C* out) {
  ForEachWindow(g, [&](int64_t b, int64_t to, int64_t h0, int64_t h1, int64_t w0, int64_t w1) {
    C* y = out + to;
    std::fill_n(y, g.channels, C(0));
    for (int64_t h = h0; h < h1; ++h) {
      for (int64_t w = w0; w < w1; ++w) {
        const C* x = in + ((b * g.height.in + h) * g.width.in + w) * g.channels;
#pragma GCC ivdep
        for (int64_t c = 0; c < g.channels; ++c) y[c] += x[c];
      }
    }
    if (h1 <= h0 || w1 <= w0) return;
    const C count = static_cast<C>((h1 - h0) * (w1 - w0));
    for (int64_t c = 0; c < g.channels; ++c) y[c] /= count;
  });
}

template <typename C>
void SpreadGradient(const PoolGeometry& g, const C* gradient, C* out) {
  std::fill_n(out, g.InputShape().num_elements(), C(0));
  ForEachWindow(g, [&](int64_t b, int64_t from, int64_t h0, int64_t h1, int64_t w0, int64_t w1) {
    if (h1 <= h0 || w1 <= w0) return;
    const C share = C(1) / static_cast<C>((h1 - h0) * (w1 - w0));
    for (int64_t h = h0; h < h1; ++h) {
      for (int64_t w = w0; w < w1; ++w) {
        C* y = out + ((b * g.height.in + h) * g.width.in + w) * g.channels;
#pragma GCC ivdep
        for (int64_t c = 0; c < g.channels; ++c) y[c] += gradient[from + c] * share;
      }
    }
  });
}

struct AvgPoolKernel {
  explicit AvgPoolKernel(const Attrs& attrs) {
    StatusOr<WindowSpec> read = ReadWindowSpec(attrs, 2);
    if (read.ok() && read->channel_size != 1) read = Unimplemented("Non-spatial pooling is not yet supported");
    if (read.ok()) {
      spec = *std::move(read);
    } else {
      attrs.Fail(read.status());
    }
  }

  WindowSpec spec;
};

struct AvgPool : AvgPoolKernel {
  using AvgPoolKernel::AvgPoolKernel;

  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(const PoolGeometry g, MakePoolGeometry(spec, ctx.input(0).shape()));
    ASSIGN_OR_RETURN(const Shape shape, PoolOutputShape(spec, ctx.input(0).shape()));
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, shape));
    if (output->num_elements() == 0) return OkStatus();
    ASSIGN_OR_RETURN(const Tensor input, PrepareInput(ctx.input(0), spec.is_channels_first));
    ASSIGN_OR_RETURN(Tensor work, WorkspaceFor(*output, spec.is_channels_first));
    if (input.dtype() == kFloat) {
      FillMeans(g, input.data<float>(), work.mutable_data<float>());
    } else {
      FillMeans(g, input.data<double>(), work.mutable_data<double>());
    }
    FinishOutput(work, spec.is_channels_first, output);
    return OkStatus();
  }
};

struct AvgPoolGrad : AvgPoolKernel {
  using AvgPoolKernel::AvgPoolKernel;

  Status Run(KernelContext& ctx) const {
    const Tensor& sizes = ctx.input(0);
    if (sizes.shape() != Shape{4}) return InvalidArgument("out_backprop must be 4-dimensional: orig_input_shape has shape ", sizes.shape().ToString());
    const std::vector<int64_t> dims(sizes.values<int32_t>().begin(), sizes.values<int32_t>().end());
    ASSIGN_OR_RETURN(const Shape shape, Shape::Checked(dims));
    ASSIGN_OR_RETURN(const PoolGeometry g, MakePoolGeometry(spec, shape));
    ASSIGN_OR_RETURN(const Shape pooled, PoolOutputShape(spec, shape));
    if (ctx.input(1).shape() != pooled) {
      return InvalidArgument("Expected grad shape to be ", pooled.ToString(), ", but got ", ctx.input(1).shape().ToString());
    }
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, shape));
    ASSIGN_OR_RETURN(const Tensor gradient, PrepareInput(ctx.input(1), spec.is_channels_first));
    ASSIGN_OR_RETURN(Tensor work, WorkspaceFor(*output, spec.is_channels_first));
    if (gradient.dtype() == kFloat) {
      SpreadGradient(g, gradient.data<float>(), work.mutable_data<float>());
    } else {
      SpreadGradient(g, gradient.data<double>(), work.mutable_data<double>());
    }
    FinishOutput(work, spec.is_channels_first, output);
    return OkStatus();
  }
};

Status AvgPoolShape(ShapeContext& ctx) {
  const PartialShape& input = ctx.input(0);
  ctx.set_output(0, PartialShape::UnknownOfRank(4));
  if (!input.has_rank()) return OkStatus();
  if (input.rank() != 4) return InvalidArgument("Shape must be rank 4 but is rank ", input.rank());
  ASSIGN_OR_RETURN(const WindowSpec spec, ReadWindowSpec(ctx.attrs(), 2));
  PartialShape output = input;
  for (int i = 0; i < 2; ++i) {
    WindowDim dim = spec.Dim(i, input.dim(spec.spatial_dim(i)), spec.sizes[i]);
    RETURN_IF_ERROR(FitWindow(spec.padding, &dim));
    output.set_dim(spec.spatial_dim(i), dim.out);
  }
  ctx.set_output(0, output);
  return OkStatus();
}

Status AvgPoolGradShape(ShapeContext& ctx) {
  const PartialShape shape = ctx.ConstantAsShape(0);
  ctx.set_output(0, shape.has_rank() && shape.rank() == 4 ? shape : PartialShape::UnknownOfRank(4));
  return OkStatus();
}

std::vector<NamedAttr> PoolAttrs(const GradientScope& g) {
  return {{"ksize", AttrValue(g.attrs().GetInts("ksize"))},
          {"strides", AttrValue(g.attrs().GetInts("strides"))},
          {"padding", AttrValue(g.attrs().GetString("padding"))},
          {"data_format", AttrValue(g.attrs().GetString("data_format"))}};
}

Status AvgPoolGradient(GradientScope& g) { return g.Return({g.Op("AvgPoolGrad", {g.ShapeOf(g.input(0)), g.grad(0)}, PoolAttrs(g))}); }
Status AvgPoolGradGradient(GradientScope& g) { return g.Return({Output(), g.Op("AvgPool", {g.grad(0)}, PoolAttrs(g))}); }

DEFINE_OP("AvgPool")
    .Input("value: T")
    .Output("output: T")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("T: FLT")
    .Shape(AvgPoolShape)
    .Cpu(SameKernelFor<AvgPool>({kHalf, kBfloat16, kFloat, kDouble}))
    .Gradient(AvgPoolGradient);

DEFINE_OP("AvgPoolGrad")
    .Input("orig_input_shape: int32")
    .Input("grad: T")
    .Output("output: T")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("T: FLT")
    .Shape(AvgPoolGradShape)
    .Cpu(SameKernelFor<AvgPoolGrad>({kHalf, kBfloat16, kFloat, kDouble}))
    .Gradient(AvgPoolGradGradient);

}  // namespace
}  // namespace tandem
