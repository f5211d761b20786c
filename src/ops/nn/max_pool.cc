// MaxPool and its kin. Padding takes no part. A gradient goes to the first largest value of its window, in row-major order.
#include <algorithm>
#include <limits>
#include <vector>

#include "graph/gradient.h"
#include "ops/nn/activation.h"
#include "ops/nn/layout.h"
#include "ops/nn/pooling.h"

namespace tandem {
namespace {

StatusOr<std::vector<int64_t>> ToList(const Tensor& tensor, absl::string_view what) {
  if (tensor.shape() != Shape{4}) return InvalidArgument(what, " must specify 4 dimensions, got shape ", tensor.shape().ToString());
  return std::vector<int64_t>(tensor.values<int32_t>().begin(), tensor.values<int32_t>().end());
}

template <typename T>
void FillMax(const PoolGeometry& g, const T* in, T* out) {
  ForEachWindow(g, [&](int64_t b, int64_t to, int64_t h0, int64_t h1, int64_t w0, int64_t w1) {
    T* y = out + to;
    std::fill_n(y, g.channels, std::numeric_limits<T>::lowest());
    for (int64_t h = h0; h < h1; ++h) {
      for (int64_t w = w0; w < w1; ++w) {
        const T* x = in + ((b * g.height.in + h) * g.width.in + w) * g.channels;
#pragma GCC ivdep
        for (int64_t c = 0; c < g.channels; ++c) y[c] = std::max(y[c], x[c]);
      }
    }
  });
}

// The place of each window's first largest value: an offset into the input, -1 for a window of padding only. `max` has space for
// the channels of one place.
template <typename T>
void FindMax(const PoolGeometry& g, const T* in, std::vector<int64_t>* places) {
  std::vector<T> largest(g.channels);
  places->assign(g.OutputShape().num_elements(), -1);
  ForEachWindow(g, [&](int64_t b, int64_t to, int64_t h0, int64_t h1, int64_t w0, int64_t w1) {
    int64_t* place = places->data() + to;
    for (int64_t h = h0; h < h1; ++h) {
      for (int64_t w = w0; w < w1; ++w) {
        const int64_t from = ((b * g.height.in + h) * g.width.in + w) * g.channels;
        for (int64_t c = 0; c < g.channels; ++c) {
          if (place[c] >= 0 && !(in[from + c] > largest[c])) continue;
          place[c] = from + c;
          largest[c] = in[from + c];
        }
      }
    }
  });
}

// Calls work(T()) for the type of a prepared tensor.
template <typename Work>
Status WithType(DataType dtype, Work work) {
  switch (dtype) {
    case kFloat: return work(float());
    case kDouble: return work(double());
    case kInt8: return work(int8_t());
    case kInt16: return work(int16_t());
    case kInt32: return work(int32_t());
    case kInt64: return work(int64_t());
    case kUint8: return work(uint8_t());
    case kUint16: return work(uint16_t());
    case kUint32: return work(uint32_t());
    case kUint64: return work(uint64_t());
    default: return Unimplemented("pooling of ", DataTypeName(dtype));
  }
}

StatusOr<std::vector<int64_t>> PlacesOfMax(const PoolGeometry& g, const Tensor& input) {
  std::vector<int64_t> places;
  RETURN_IF_ERROR(WithType(input.dtype(), [&](auto zero) {
    FindMax(g, input.data<decltype(zero)>(), &places);
    return OkStatus();
  }));
  return places;
}

// Adds each gradient to the place it belongs to.
Status ScatterGradient(const Tensor& gradient, absl::Span<const int64_t> places, Tensor* result) {
  return WithType(gradient.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* to = result->mutable_data<T>();
    std::fill_n(to, result->num_elements(), T(0));
    const T* from = gradient.data<T>();
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i] >= 0) to[places[i]] = static_cast<T>(to[places[i]] + from[i]);
    }
    return OkStatus();
  });
}

// Attrs of the op; the V2 ops have ksize and strides as their last inputs.
struct MaxPoolKernel {
  explicit MaxPoolKernel(const Attrs& attrs) : has_window_inputs(!attrs.Has("ksize")) {
    StatusOr<WindowSpec> read = ReadWindowSpec(attrs, 2);
    if (read.ok()) {
      spec_ = *std::move(read);
    } else {
      attrs.Fail(read.status());
    }
  }

  StatusOr<WindowSpec> Spec(const KernelContext& ctx) const {
    if (!has_window_inputs) return spec_;
    WindowSpec spec = spec_;
    ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, ToList(ctx.input(ctx.num_inputs() - 2), "ksize"));
    ASSIGN_OR_RETURN(const std::vector<int64_t> strides, ToList(ctx.input(ctx.num_inputs() - 1), "strides"));
    RETURN_IF_ERROR(SetWindow(sizes, strides, &spec));
    return spec;
  }

  const bool has_window_inputs;

 private:
  WindowSpec spec_;
};

struct MaxPool : MaxPoolKernel {
  using MaxPoolKernel::MaxPoolKernel;

  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(const WindowSpec spec, Spec(ctx));
    ASSIGN_OR_RETURN(const PoolGeometry g, MakePoolGeometry(spec, ctx.input(0).shape()));
    ASSIGN_OR_RETURN(const Shape shape, PoolOutputShape(spec, ctx.input(0).shape()));
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, shape));
    if (output->num_elements() == 0) return OkStatus();
    ASSIGN_OR_RETURN(const Tensor input, PrepareInput(ctx.input(0), spec.is_channels_first));
    ASSIGN_OR_RETURN(Tensor work, WorkspaceFor(*output, spec.is_channels_first));
    RETURN_IF_ERROR(WithType(input.dtype(), [&](auto zero) {
      using T = decltype(zero);
      FillMax(g, input.data<T>(), work.mutable_data<T>());
      return OkStatus();
    }));
    FinishOutput(work, spec.is_channels_first, output);
    return OkStatus();
  }
};

Status CheckShape(const Tensor& tensor, const Shape& expected, absl::string_view what) {
  if (tensor.shape() == expected) return OkStatus();
  return InvalidArgument("Expected ", what, " shape to be ", expected.ToString(), ", but got ", tensor.shape().ToString());
}

struct MaxPoolGrad : MaxPoolKernel {
  using MaxPoolKernel::MaxPoolKernel;

  Status Run(KernelContext& ctx) const {
    const Tensor& image = ctx.input(0);
    ASSIGN_OR_RETURN(const WindowSpec spec, Spec(ctx));
    ASSIGN_OR_RETURN(const PoolGeometry g, MakePoolGeometry(spec, image.shape()));
    ASSIGN_OR_RETURN(const Shape pooled, PoolOutputShape(spec, image.shape()));
    RETURN_IF_ERROR(CheckShape(ctx.input(1), pooled, "orig_output"));
    RETURN_IF_ERROR(CheckShape(ctx.input(2), pooled, "grad"));
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, image.shape()));
    ASSIGN_OR_RETURN(const Tensor input, PrepareInput(image, spec.is_channels_first));
    ASSIGN_OR_RETURN(const Tensor gradient, PrepareInput(ctx.input(2), spec.is_channels_first));
    ASSIGN_OR_RETURN(Tensor work, WorkspaceFor(*output, spec.is_channels_first));
    ASSIGN_OR_RETURN(const std::vector<int64_t> places, PlacesOfMax(g, input));
    RETURN_IF_ERROR(ScatterGradient(gradient, places, &work));
    FinishOutput(work, spec.is_channels_first, output);
    return OkStatus();
  }
};

// The derivative of MaxPoolGrad by its gradient: picks from a tensor of the image's shape at the places of the maxima.
struct MaxPoolGradGrad : MaxPoolKernel {
  using MaxPoolKernel::MaxPoolKernel;

  Status Run(KernelContext& ctx) const {
    const Tensor& image = ctx.input(0);
    ASSIGN_OR_RETURN(const WindowSpec spec, Spec(ctx));
    ASSIGN_OR_RETURN(const PoolGeometry g, MakePoolGeometry(spec, image.shape()));
    ASSIGN_OR_RETURN(const Shape pooled, PoolOutputShape(spec, image.shape()));
    RETURN_IF_ERROR(CheckShape(ctx.input(1), pooled, "orig_output"));
    RETURN_IF_ERROR(CheckShape(ctx.input(2), image.shape(), "grad"));
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, pooled));
    ASSIGN_OR_RETURN(const Tensor input, PrepareInput(image, spec.is_channels_first));
    ASSIGN_OR_RETURN(const Tensor gradient, PrepareInput(ctx.input(2), spec.is_channels_first));
    ASSIGN_OR_RETURN(Tensor work, WorkspaceFor(*output, spec.is_channels_first));
    ASSIGN_OR_RETURN(const std::vector<int64_t> places, PlacesOfMax(g, input));
    RETURN_IF_ERROR(WithType(gradient.dtype(), [&](auto zero) {
      using T = decltype(zero);
      for (size_t i = 0; i < places.size(); ++i) work.mutable_data<T>()[i] = places[i] < 0 ? T(0) : gradient.data<T>()[places[i]];
      return OkStatus();
    }));
    FinishOutput(work, spec.is_channels_first, output);
    return OkStatus();
  }
};

struct MaxPoolWithArgmax : MaxPoolKernel {
  explicit MaxPoolWithArgmax(const Attrs& attrs) : MaxPoolKernel(attrs), includes_batch(attrs.GetBool("include_batch_in_index")) {}

  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(const WindowSpec spec, Spec(ctx));
    ASSIGN_OR_RETURN(const PoolGeometry g, MakePoolGeometry(spec, ctx.input(0).shape()));
    if (spec.channel_size != 1) return Unimplemented("MaxPoolWithArgmax across channels");
    const Shape shape = g.OutputShape();
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, shape));
    ASSIGN_OR_RETURN(Tensor * argmax, ctx.Allocate(1, shape));
    ASSIGN_OR_RETURN(const Tensor input, PrepareInput(ctx.input(0), false));
    ASSIGN_OR_RETURN(Tensor work, WorkspaceFor(*output, false));
    ASSIGN_OR_RETURN(const std::vector<int64_t> places, PlacesOfMax(g, input));
    RETURN_IF_ERROR(WithType(input.dtype(), [&](auto zero) {
      using T = decltype(zero);
      for (size_t i = 0; i < places.size(); ++i) {
        work.mutable_data<T>()[i] = places[i] < 0 ? std::numeric_limits<T>::lowest() : input.data<T>()[places[i]];
      }
      return OkStatus();
    }));
    FinishOutput(work, false, output);
    const int64_t image_size = g.height.in * g.width.in * g.channels;
    for (size_t i = 0; i < places.size(); ++i) {
      const int64_t place = includes_batch || places[i] < 0 ? places[i] : places[i] % image_size;
      if (argmax->dtype() == kInt32) {
        argmax->mutable_data<int32_t>()[i] = static_cast<int32_t>(place);
      } else {
        argmax->mutable_data<int64_t>()[i] = place;
      }
    }
    return OkStatus();
  }

  const bool includes_batch;
};

struct MaxPoolGradWithArgmax : MaxPoolKernel {
  explicit MaxPoolGradWithArgmax(const Attrs& attrs) : MaxPoolKernel(attrs), includes_batch(attrs.GetBool("include_batch_in_index")) {}

  Status Run(KernelContext& ctx) const {
    const Tensor &image = ctx.input(0), &argmax = ctx.input(2);
    ASSIGN_OR_RETURN(const WindowSpec spec, Spec(ctx));
    ASSIGN_OR_RETURN(const Shape pooled, PoolOutputShape(spec, image.shape()));
    RETURN_IF_ERROR(CheckShape(ctx.input(1), pooled, "grad"));
    RETURN_IF_ERROR(CheckShape(argmax, pooled, "argmax"));
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, image.shape()));
    std::vector<int64_t> places(argmax.num_elements());
    const int64_t batch = image.shape().dim(0), image_size = batch == 0 ? 0 : image.num_elements() / batch;
    const int64_t per_image = batch == 0 ? 1 : static_cast<int64_t>(places.size()) / batch;
    for (size_t i = 0; i < places.size(); ++i) {
      places[i] = argmax.dtype() == kInt32 ? argmax.data<int32_t>()[i] : argmax.data<int64_t>()[i];
      const int64_t limit = includes_batch ? image.num_elements() : image_size;
      if (places[i] < 0 || places[i] >= limit) return InvalidArgument("argmax value ", places[i], " is outside [0, ", limit, ")");
      if (!includes_batch) places[i] += static_cast<int64_t>(i) / per_image * image_size;
    }
    ASSIGN_OR_RETURN(const Tensor gradient, PrepareInput(ctx.input(1), false));
    ASSIGN_OR_RETURN(Tensor work, WorkspaceFor(*output, false));
    RETURN_IF_ERROR(ScatterGradient(gradient, places, &work));
    FinishOutput(work, false, output);
    return OkStatus();
  }

  const bool includes_batch;
};

Status PoolShape(ShapeContext& ctx) {
  const PartialShape& input = ctx.input(0);
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.set_output(i, PartialShape::UnknownOfRank(4));
  if (!input.has_rank() || !ctx.attrs().Has("ksize")) return OkStatus();
  if (input.rank() != 4) return InvalidArgument("Shape must be rank 4 but is rank ", input.rank());
  ASSIGN_OR_RETURN(const WindowSpec spec, ReadWindowSpec(ctx.attrs(), 2));
  PartialShape output = input;
  for (int i = 0; i < 2; ++i) {
    WindowDim dim = spec.Dim(i, input.dim(spec.spatial_dim(i)), spec.sizes[i]);
    RETURN_IF_ERROR(FitWindow(spec.padding, &dim));
    output.set_dim(spec.spatial_dim(i), dim.out);
  }
  if (spec.channel_size != 1) output.set_dim(spec.channel_dim(), kUnknownSize);
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.set_output(i, output);
  return OkStatus();
}

Status SameAsInput1(ShapeContext& ctx) {
  ctx.set_output(0, ctx.input(1));
  return OkStatus();
}

std::vector<NamedAttr> PoolAttrs(const GradientScope& g, bool with_explicit_padding = true) {
  std::vector<NamedAttr> attrs;
  for (const char* name : {"ksize", "strides", "explicit_paddings"}) {
    if (!with_explicit_padding && name == std::string("explicit_paddings")) continue;
    if (g.attrs().Has(name)) attrs.emplace_back(name, AttrValue(g.attrs().GetInts(name)));
  }
  for (const char* name : {"padding", "data_format"}) {
    if (g.attrs().Has(name)) attrs.emplace_back(name, AttrValue(g.attrs().GetString(name)));
  }
  if (g.attrs().Has("include_batch_in_index")) attrs.emplace_back("include_batch_in_index", g.attrs().GetBool("include_batch_in_index"));
  return attrs;
}

Status MaxPoolGradient(GradientScope& g) { return g.Return({g.Op("MaxPoolGrad", {g.input(0), g.output(0), g.grad(0)}, PoolAttrs(g))}); }

Status MaxPoolV2Gradient(GradientScope& g) {
  return g.Return({g.Op("MaxPoolGradV2", {g.input(0), g.output(0), g.grad(0), g.input(1), g.input(2)}, PoolAttrs(g)), Output(), Output()});
}

Status MaxPoolGradGradient(GradientScope& g) {
  return g.Return({g.Op("ZerosLike", {g.input(0)}), g.Op("ZerosLike", {g.input(1)}),
                   g.Op("MaxPoolGradGrad", {g.input(0), g.input(1), g.grad(0)}, PoolAttrs(g, /*with_explicit_padding=*/false))});
}

Status MaxPoolGradGradGradient(GradientScope& g) {
  return g.Return({g.Op("ZerosLike", {g.input(0)}), g.Op("ZerosLike", {g.input(1)}),
                   g.Op("MaxPoolGrad", {g.input(0), g.input(1), g.grad(0)}, PoolAttrs(g))});
}

Status MaxPoolWithArgmaxGradient(GradientScope& g) {
  return g.Return({g.Op("MaxPoolGradWithArgmax", {g.input(0), g.grad(0), g.output(1)}, PoolAttrs(g))});
}

template <typename K>
KernelSet Kernels() {
  return SameKernelFor<K>({kFloat, kDouble, kInt32, kUint8, kInt16, kInt8, kInt64, kBfloat16, kUint16, kHalf});
}
template <typename K>
KernelSet RealKernels() {
  return SameKernelFor<K>({kFloat, kDouble, kInt32, kUint8, kInt16, kInt8, kInt64, kBfloat16, kUint16, kHalf, kUint32, kUint64});
}

DEFINE_OP("MaxPool")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: {float, double, int32, uint8, int16, int8, int64, qint8, bfloat16, uint16, half} = float")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
    .Attr("explicit_paddings: list(int) = []")
    .Attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
    .Shape(PoolShape)
    .Cpu(Kernels<MaxPool>())
    .Gradient(MaxPoolGradient);

DEFINE_OP("MaxPoolV2")
    .Input("input: T")
    .Input("ksize: int32")
    .Input("strides: int32")
    .Output("output: T")
    .Attr("T: {float, double, int32, uint8, int16, int8, int64, qint8, bfloat16, uint16, half} = float")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
    .Shape(PoolShape)
    .Cpu(Kernels<MaxPool>())
    .Gradient(MaxPoolV2Gradient);

DEFINE_OP("MaxPoolGrad")
    .Input("orig_input: T")
    .Input("orig_output: T")
    .Input("grad: T")
    .Output("output: T")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
    .Attr("explicit_paddings: list(int) = []")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("T: REAL = float")
    .Shape(SameAsInput0)
    .Cpu(RealKernels<MaxPoolGrad>())
    .Gradient(MaxPoolGradGradient);

DEFINE_OP("MaxPoolGradV2")
    .Input("orig_input: T")
    .Input("orig_output: T")
    .Input("grad: T")
    .Input("ksize: int32")
    .Input("strides: int32")
    .Output("output: T")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("T: REAL = float")
    .Shape(SameAsInput0)
    .Cpu(RealKernels<MaxPoolGrad>());

DEFINE_OP("MaxPoolGradGrad")
    .Input("orig_input: T")
    .Input("orig_output: T")
    .Input("grad: T")
    .Output("output: T")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("T: REAL")
    .Shape(SameAsInput1)
    .Cpu(RealKernels<MaxPoolGradGrad>())
    .Gradient(MaxPoolGradGradGradient);

DEFINE_OP("MaxPoolWithArgmax")
    .Input("input: T")
    .Output("output: T")
    .Output("argmax: Targmax")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("Targmax: IDX = int64")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("include_batch_in_index: bool = false")
    .Attr("T: REAL")
    .Shape(PoolShape)
    .Cpu(RealKernels<MaxPoolWithArgmax>())
    .Gradient(MaxPoolWithArgmaxGradient);

DEFINE_OP("MaxPoolGradWithArgmax")
    .Input("input: T")
    .Input("grad: T")
    .Input("argmax: Targmax")
    .Output("output: T")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("include_batch_in_index: bool = false")
    .Attr("Targmax: IDX")
    .Attr("T: REAL")
    .Shape(SameAsInput0)
    .Cpu(RealKernels<MaxPoolGradWithArgmax>());

}  // namespace
}  // namespace tandem
