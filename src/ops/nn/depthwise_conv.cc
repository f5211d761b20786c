// DepthwiseConv2dNative: each channel is convolved with its own filters [height, width, channels, multiplier]; output channel
// c · multiplier + m belongs to input channel c.
#include <algorithm>
#include <vector>

#include "graph/gradient.h"
#include "graph/shape_inference.h"
#include "ops/nn/convolution.h"
#include "ops/nn/layout.h"

namespace tandem {
namespace {

struct DepthwiseGeometry {
  int64_t batch, channels, multiplier;
  WindowDim height, width;

  int64_t out_channels() const { return channels * multiplier; }
};

StatusOr<DepthwiseGeometry> MakeGeometry(const WindowSpec& spec, const Shape& input, const Shape& filter) {
  if (input.rank() != 4) return InvalidArgument("input must be 4-dimensional: ", input.ToString());
  if (filter.rank() != 4) return InvalidArgument("filter must be 4-dimensional: ", filter.ToString());
  DepthwiseGeometry g{.batch = input.dim(0), .channels = input.dim(spec.channel_dim()), .multiplier = filter.dim(3), .height = {}, .width = {}};
  if (g.channels != filter.dim(2)) return InvalidArgument("input and filter must have the same depth: ", g.channels, " vs ", filter.dim(2));
  g.height = spec.Dim(0, input.dim(spec.spatial_dim(0)), filter.dim(0));
  g.width = spec.Dim(1, input.dim(spec.spatial_dim(1)), filter.dim(1));
  RETURN_IF_ERROR(FitWindow(spec.padding, &g.height));
  RETURN_IF_ERROR(FitWindow(spec.padding, &g.width));
  return g;
}

StatusOr<Shape> OutputShape(const WindowSpec& spec, const DepthwiseGeometry& g) {
  const Shape last{g.batch, g.height.out, g.width.out, g.out_channels()};
  ASSIGN_OR_RETURN(const Shape checked, Shape::Checked(last.dims()));
  return spec.is_channels_first ? ToChannelsFirst(checked) : checked;
}

// Calls visit(input offset, filter offset, output offset) for each output place and each tap on a real input place; each offset is
// that of the first channel.
template <typename Visit>
void ForEachTap(const DepthwiseGeometry& g, Visit visit) {
  const int64_t out_channels = g.out_channels();
  int64_t out = 0;
  for (int64_t b = 0; b < g.batch; ++b) {
    for (int64_t oh = 0; oh < g.height.out; ++oh) {
      for (int64_t ow = 0; ow < g.width.out; ++ow, out += out_channels) {
        for (int64_t kh = 0; kh < g.height.window; ++kh) {
          const int64_t ih = oh * g.height.stride - g.height.before + kh * g.height.dilation;
          if (ih < 0 || ih >= g.height.in) continue;
          for (int64_t kw = 0; kw < g.width.window; ++kw) {
            const int64_t iw = ow * g.width.stride - g.width.before + kw * g.width.dilation;
            if (iw < 0 || iw >= g.width.in) continue;
            visit(((b * g.height.in + ih) * g.width.in + iw) * g.channels, (kh * g.width.window + kw) * out_channels, out);
          }
        }
      }
    }
  }
}

template <typename C>
void Forward(const DepthwiseGeometry& g, const C* input, const C* filter, C* output) {
  std::fill_n(output, g.batch * g.height.out * g.width.out * g.out_channels(), C(0));
  ForEachTap(g, [&](int64_t in, int64_t tap, int64_t out) {
    const C *x = input + in, *w = filter + tap;
    C* y = output + out;
    if (g.multiplier == 1) {
#pragma GCC ivdep
      for (int64_t c = 0; c < g.channels; ++c) y[c] += x[c] * w[c];
      return;
    }
    for (int64_t c = 0; c < g.channels; ++c) {
      for (int64_t m = 0; m < g.multiplier; ++m) y[c * g.multiplier + m] += x[c] * w[c * g.multiplier + m];
    }
  });
}

template <typename C>
void BackpropInput(const DepthwiseGeometry& g, const C* filter, const C* gradient, C* input_gradient) {
  std::fill_n(input_gradient, g.batch * g.height.in * g.width.in * g.channels, C(0));
  ForEachTap(g, [&](int64_t in, int64_t tap, int64_t out) {
    const C *w = filter + tap, *dy = gradient + out;
    C* dx = input_gradient + in;
    for (int64_t c = 0; c < g.channels; ++c) {
      for (int64_t m = 0; m < g.multiplier; ++m) dx[c] += dy[c * g.multiplier + m] * w[c * g.multiplier + m];
    }
  });
}

template <typename C>
void BackpropFilter(const DepthwiseGeometry& g, const C* input, const C* gradient, C* filter_gradient) {
  std::fill_n(filter_gradient, g.height.window * g.width.window * g.out_channels(), C(0));
  ForEachTap(g, [&](int64_t in, int64_t tap, int64_t out) {
    const C *x = input + in, *dy = gradient + out;
    C* dw = filter_gradient + tap;
    for (int64_t c = 0; c < g.channels; ++c) {
      for (int64_t m = 0; m < g.multiplier; ++m) dw[c * g.multiplier + m] += x[c] * dy[c * g.multiplier + m];
    }
  });
}

enum class Pass { kForward, kBackpropInput, kBackpropFilter };

// Inputs: (input, filter), (input_sizes, filter, gradient) or (input, filter_sizes, gradient).
template <Pass pass>
struct DepthwiseConv {
  explicit DepthwiseConv(const Attrs& attrs) {
    StatusOr<WindowSpec> read = ReadWindowSpec(attrs, 2);
    if (read.ok()) {
      spec = *std::move(read);
    } else {
      attrs.Fail(read.status());
    }
  }

  static StatusOr<Shape> ShapeOf(KernelContext& ctx, int i, bool is_sizes) {
    const Tensor& tensor = ctx.input(i);
    if (!is_sizes) return tensor.shape();
    if (tensor.shape().rank() != 1) return InvalidArgument("sizes must be 1-dimensional, got shape ", tensor.shape().ToString());
    const std::vector<int64_t> dims(tensor.values<int32_t>().begin(), tensor.values<int32_t>().end());
    return Shape::Checked(dims);
  }

  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(const Shape input_shape, ShapeOf(ctx, 0, pass == Pass::kBackpropInput));
    ASSIGN_OR_RETURN(const Shape filter_shape, ShapeOf(ctx, 1, pass == Pass::kBackpropFilter));
    ASSIGN_OR_RETURN(const DepthwiseGeometry g, MakeGeometry(spec, input_shape, filter_shape));
    ASSIGN_OR_RETURN(const Shape output_shape, OutputShape(spec, g));
    if (pass != Pass::kForward && ctx.input(2).shape() != output_shape) {
      return InvalidArgument("out_backprop has shape ", ctx.input(2).shape().ToString(), ", the sizes of input and filter give ", output_shape.ToString());
    }
    const bool is_image = pass != Pass::kBackpropFilter && spec.is_channels_first;  // the result has the layout of images
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, pass == Pass::kForward ? output_shape : pass == Pass::kBackpropInput ? input_shape : filter_shape));
    ASSIGN_OR_RETURN(Tensor work, WorkspaceFor(*output, is_image));
    Tensor a, b;  // the two operands
    if (pass == Pass::kBackpropInput) {
      ASSIGN_OR_RETURN(a, PrepareInput(ctx.input(1), false));
    } else {
      ASSIGN_OR_RETURN(a, PrepareInput(ctx.input(0), spec.is_channels_first));
    }
    if (pass == Pass::kForward) {
      ASSIGN_OR_RETURN(b, PrepareInput(ctx.input(1), false));
    } else {
      ASSIGN_OR_RETURN(b, PrepareInput(ctx.input(2), spec.is_channels_first));
    }
    work.dtype() == kFloat ? Compute<float>(g, a, b, &work) : Compute<double>(g, a, b, &work);
    FinishOutput(work, is_image, output);
    return OkStatus();
  }

  template <typename C>
  static void Compute(const DepthwiseGeometry& g, const Tensor& a, const Tensor& b, Tensor* result) {
    constexpr auto compute = pass == Pass::kForward ? Forward<C> : pass == Pass::kBackpropInput ? BackpropInput<C> : BackpropFilter<C>;
    compute(g, a.data<C>(), b.data<C>(), result->mutable_data<C>());
  }

  WindowSpec spec;
};

Status DepthwiseShape(ShapeContext& ctx) {
  ASSIGN_OR_RETURN(const WindowSpec spec, ReadWindowSpec(ctx.attrs(), 2));
  const PartialShape &input = ctx.input(0), &filter = ctx.input(1);
  for (const PartialShape* shape : {&input, &filter}) {
    if (shape->has_rank() && shape->rank() != 4) return InvalidArgument("Shape must be rank 4 but is rank ", shape->rank());
  }
  PartialShape output = PartialShape::UnknownOfRank(4);
  if (input.has_rank()) output.set_dim(0, input.dim(0));
  if (filter.has_rank() && filter.dim(2) != kUnknownSize && filter.dim(3) != kUnknownSize) {
    output.set_dim(spec.channel_dim(), filter.dim(2) * filter.dim(3));
  }
  for (int i = 0; i < 2 && input.has_rank() && filter.has_rank(); ++i) {
    WindowDim dim = spec.Dim(i, input.dim(spec.spatial_dim(i)), filter.dim(i));
    RETURN_IF_ERROR(FitWindow(spec.padding, &dim));
    output.set_dim(spec.spatial_dim(i), dim.out);
  }
  ctx.set_output(0, output);
  return OkStatus();
}

ShapeFunction ShapeFromSizesInput(int i) {
  return [=](ShapeContext& ctx) {
    const PartialShape shape = ctx.ConstantAsShape(i);
    ctx.set_output(0, shape.has_rank() && shape.rank() == 4 ? shape : PartialShape::UnknownOfRank(4));
    return OkStatus();
  };
}

std::vector<NamedAttr> DepthwiseAttrs(const GradientScope& g) {
  std::vector<NamedAttr> attrs;
  for (const char* name : {"strides", "dilations", "explicit_paddings"}) attrs.emplace_back(name, AttrValue(g.attrs().GetInts(name)));
  for (const char* name : {"padding", "data_format"}) attrs.emplace_back(name, AttrValue(g.attrs().GetString(name)));
  return attrs;
}

constexpr char kForwardName[] = "DepthwiseConv2dNative", kInputName[] = "DepthwiseConv2dNativeBackpropInput",
               kFilterName[] = "DepthwiseConv2dNativeBackpropFilter";

// Linear in input and filter, so that the three ops are each other's derivatives.
Status ForwardGradient(GradientScope& g) {
  return g.Return({g.Op(kInputName, {g.ShapeOf(g.input(0)), g.input(1), g.grad(0)}, DepthwiseAttrs(g)),
                   g.Op(kFilterName, {g.input(0), g.ShapeOf(g.input(1)), g.grad(0)}, DepthwiseAttrs(g))});
}
Status BackpropInputGradient(GradientScope& g) {
  return g.Return({Output(), g.Op(kFilterName, {g.grad(0), g.ShapeOf(g.input(1)), g.input(2)}, DepthwiseAttrs(g)),
                   g.Op(kForwardName, {g.grad(0), g.input(1)}, DepthwiseAttrs(g))});
}
Status BackpropFilterGradient(GradientScope& g) {
  return g.Return({g.Op(kInputName, {g.ShapeOf(g.input(0)), g.grad(0), g.input(2)}, DepthwiseAttrs(g)), Output(),
                   g.Op(kForwardName, {g.input(0), g.grad(0)}, DepthwiseAttrs(g))});
}

OpBuilder DepthwiseOp(const char* name) {
  return OpBuilder(name)
      .Output("output: T")
      .Attr("T: FLT")
      .Attr("strides: list(int)")
      .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .Attr("explicit_paddings: list(int) = []")
      .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .Attr("dilations: list(int) = [1, 1, 1, 1]");
}

const OpRegistrar kForward = DepthwiseOp(kForwardName)
                                 .Input("input: T")
                                 .Input("filter: T")
                                 .Shape(DepthwiseShape)
                                 .Cpu(SameKernelFor<DepthwiseConv<Pass::kForward>>({kHalf, kBfloat16, kFloat, kDouble}))
                                 .Gradient(ForwardGradient);
const OpRegistrar kBackpropInput = DepthwiseOp(kInputName)
                                       .Input("input_sizes: int32")
                                       .Input("filter: T")
                                       .Input("out_backprop: T")
                                       .Shape(ShapeFromSizesInput(0))
                                       .Cpu(SameKernelFor<DepthwiseConv<Pass::kBackpropInput>>({kHalf, kBfloat16, kFloat, kDouble}))
                                       .Gradient(BackpropInputGradient);
const OpRegistrar kBackpropFilter = DepthwiseOp(kFilterName)
                                        .Input("input: T")
                                        .Input("filter_sizes: int32")
                                        .Input("out_backprop: T")
                                        .Shape(ShapeFromSizesInput(1))
                                        .Cpu(SameKernelFor<DepthwiseConv<Pass::kBackpropFilter>>({kHalf, kBfloat16, kFloat, kDouble}))
                                        .Gradient(BackpropFilterGradient);

}  // namespace
}  // namespace tandem
