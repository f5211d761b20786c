// Dilation2D: morphological dilation, out = max over the window of input + filter. Padding takes no part.
#include <algorithm>
#include <limits>

#include "ops/nn/activation.h"
#include "ops/nn/window.h"

namespace tandem {
namespace {

// Strides and rates, of which `rates` are the dilations of the window.
StatusOr<WindowSpec> ReadSpec(const Attrs& attrs) {
  ASSIGN_OR_RETURN(WindowSpec spec, ReadWindowSpec(attrs, 2));
  const std::vector<int64_t> rates = attrs.GetInts("rates");
  WindowSpec of_rates = spec;
  RETURN_IF_ERROR(SetWindow(rates, rates, &of_rates));
  if (of_rates.channel_size != 1) return Unimplemented("Current implementation does not yet support rates in the depth dimension, got ", of_rates.channel_size);
  spec.dilations = of_rates.sizes;
  return spec;
}

struct Dilation2D {
  explicit Dilation2D(const Attrs& attrs) {
    StatusOr<WindowSpec> read = ReadSpec(attrs);
    if (read.ok()) {
      spec = *std::move(read);
    } else {
      attrs.Fail(read.status());
    }
  }

  template <typename T>
  Status Run(KernelContext& ctx) const {
    using C = ComputeType<T>;
    const Tensor &input = ctx.input(0), &filter = ctx.input(1);
    if (input.shape().rank() != 4) return InvalidArgument("input must be 4-dimensional: ", input.shape().ToString());
    if (filter.shape().rank() != 3) return InvalidArgument("filter must be 3-dimensional: ", filter.shape().ToString());
    const int64_t channels = input.shape().dim(3);
    if (channels != filter.shape().dim(2)) {
      return InvalidArgument("input and filter must have the same depth: ", input.shape().ToString(), " vs ", filter.shape().ToString());
    }
    WindowDim height = spec.Dim(0, input.shape().dim(1), filter.shape().dim(0)), width = spec.Dim(1, input.shape().dim(2), filter.shape().dim(1));
    RETURN_IF_ERROR(FitWindow(spec.padding, &height));
    RETURN_IF_ERROR(FitWindow(spec.padding, &width));
    ASSIGN_OR_RETURN(const Shape shape, Shape::Checked({input.shape().dim(0), height.out, width.out, channels}));
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, shape));
    T* y = output->mutable_data<T>();
    const int64_t places = channels == 0 ? 0 : output->num_elements() / channels;
    for (int64_t place = 0; place < places; ++place, y += channels) {
      const int64_t ow = place % width.out, oh = place / width.out % height.out, b = place / (width.out * height.out);
      std::fill_n(y, channels, static_cast<T>(std::numeric_limits<C>::lowest()));
      for (int64_t kh = 0; kh < height.window; ++kh) {
        const int64_t ih = oh * height.stride - height.before + kh * height.dilation;
        if (ih < 0 || ih >= height.in) continue;
        for (int64_t kw = 0; kw < width.window; ++kw) {
          const int64_t iw = ow * width.stride - width.before + kw * width.dilation;
          if (iw < 0 || iw >= width.in) continue;
          const T* x = input.data<T>() + ((b * height.in + ih) * width.in + iw) * channels;
          const T* w = filter.data<T>() + (kh * width.window + kw) * channels;
          for (int64_t c = 0; c < channels; ++c) y[c] = std::max(y[c], static_cast<T>(x[c] + w[c]));
        }
      }
    }
    return OkStatus();
  }

  WindowSpec spec;
};

Status Dilation2DShape(ShapeContext& ctx) {
  ASSIGN_OR_RETURN(const WindowSpec spec, ReadSpec(ctx.attrs()));
  const PartialShape &input = ctx.input(0), &filter = ctx.input(1);
  if (input.has_rank() && input.rank() != 4) return InvalidArgument("Shape must be rank 4 but is rank ", input.rank());
  if (filter.has_rank() && filter.rank() != 3) return InvalidArgument("Shape must be rank 3 but is rank ", filter.rank());
  PartialShape output = PartialShape::UnknownOfRank(4);
  if (input.has_rank()) {
    output.set_dim(0, input.dim(0));
    output.set_dim(3, input.dim(3));
  }
  for (int i = 0; i < 2 && input.has_rank() && filter.has_rank(); ++i) {
    WindowDim dim = spec.Dim(i, input.dim(i + 1), filter.dim(i));
    RETURN_IF_ERROR(FitWindow(spec.padding, &dim));
    output.set_dim(i + 1, dim.out);
  }
  ctx.set_output(0, output);
  return OkStatus();
}

DEFINE_OP("Dilation2D")
    .Input("input: T")
    .Input("filter: T")
    .Output("output: T")
    .Attr("T: REAL")
    .Attr("strides: list(int) >= 4")
    .Attr("rates: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Shape(Dilation2DShape)
    .Cpu(ForReal<Dilation2D>());

}  // namespace
}  // namespace tandem
