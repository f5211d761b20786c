#include "ops/nn/max_pool.h"

#include <algorithm>
#include <limits>

namespace tandem {
namespace {

StatusOr<std::vector<int64_t>> ToList(const Tensor& tensor, absl::string_view what) {
  if (tensor.shape() != Shape{4}) return InvalidArgument(what, " must specify 4 dimensions, got shape ", tensor.shape().ToString());
  return std::vector<int64_t>(tensor.values<int32_t>().begin(), tensor.values<int32_t>().end());
}

template <typename T>
void MaxOfWindows(const PoolGeometry& g, const T* in, T* out) {
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

// The place of each window's first largest value: an offset into the input, -1 for a window of padding only.
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
    case kFloat:
      return work(float());
    case kDouble:
      return work(double());
    case kInt8:
      return work(int8_t());
    case kInt16:
      return work(int16_t());
    case kInt32:
      return work(int32_t());
    case kInt64:
      return work(int64_t());
    case kUint8:
      return work(uint8_t());
    case kUint16:
      return work(uint16_t());
    case kUint32:
      return work(uint32_t());
    case kUint64:
      return work(uint64_t());
    default:
      return Unimplemented("pooling of ", DataTypeName(dtype));
  }
}

}  // namespace

Status FillMax(const PoolGeometry& g, const Tensor& input, Tensor* output) {
  return WithType(input.dtype(), [&](auto zero) {
    using T = decltype(zero);
    MaxOfWindows(g, input.data<T>(), output->mutable_data<T>());
    return OkStatus();
  });
}

StatusOr<std::vector<int64_t>> PlacesOfMax(const PoolGeometry& g, const Tensor& input) {
  std::vector<int64_t> places;
  RETURN_IF_ERROR(WithType(input.dtype(), [&](auto zero) {
    FindMax(g, input.data<decltype(zero)>(), &places);
    return OkStatus();
  }));
  return places;
}

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

Status PickPlaces(const Tensor& values, absl::Span<const int64_t> places, Absent absent, Tensor* output) {
  return WithType(values.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T other = absent == Absent::kZero ? T(0) : std::numeric_limits<T>::lowest();
    const T* from = values.data<T>();
    T* to = output->mutable_data<T>();
    for (size_t i = 0; i < places.size(); ++i) to[i] = places[i] < 0 ? other : from[places[i]];
    return OkStatus();
  });
}

MaxPoolKernel::MaxPoolKernel(const Attrs& attrs) : has_window_inputs_(!attrs.Has("ksize")) {
  StatusOr<WindowSpec> read = ReadWindowSpec(attrs, 2);
  if (read.ok()) {
    spec_ = *std::move(read);
  } else {
    attrs.Fail(read.status());
  }
}

StatusOr<WindowSpec> MaxPoolKernel::Spec(const KernelContext& ctx) const {
  if (!has_window_inputs_) return spec_;
  WindowSpec spec = spec_;
  ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, ToList(ctx.input(ctx.num_inputs() - 2), "ksize"));
  ASSIGN_OR_RETURN(const std::vector<int64_t> strides, ToList(ctx.input(ctx.num_inputs() - 1), "strides"));
  RETURN_IF_ERROR(SetWindow(sizes, strides, &spec));
  return spec;
}

Status CheckShape(const Tensor& tensor, const Shape& expected, absl::string_view what) {
  if (tensor.shape() == expected) return OkStatus();
  return InvalidArgument("Expected ", what, " shape to be ", expected.ToString(), ", but got ", tensor.shape().ToString());
}

Status MaxPoolShape(ShapeContext& ctx) {
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

}  // namespace tandem
