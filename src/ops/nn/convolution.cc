#include "ops/nn/convolution.h"

#include <dnnl.h>

#include <Eigen/Core>
#include <algorithm>
#include <cstring>

#include "kernel/compute_threads.h"

namespace tandem {
namespace {

constexpr int64_t kPatchBufferBytes = int64_t{2} << 20;  // rows of patches that are multiplied at once: about a second-level cache

// c = op(a) · op(b), or c += with `accumulate`; rows of each matrix are `stride` elements apart.
template <typename T>
struct MatrixRef {
  T* data;
  int64_t stride;
};

Status Multiply(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, MatrixRef<const float> a, MatrixRef<const float> b, bool accumulate,
                MatrixRef<float> c) {
  UseComputeThreadsFor(2.0 * m * n * k);
  const dnnl_status_t status = dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, 1.0f, a.data, a.stride, b.data, b.stride,
                                          accumulate ? 1.0f : 0.0f, c.data, c.stride);
  if (status == dnnl_out_of_memory) return ResourceExhausted("no memory for a product of ", m, " by ", k, " and ", k, " by ", n);
  if (status != dnnl_success) return Internal("dnnl_sgemm failed with status ", static_cast<int>(status));
  return OkStatus();
}

template <typename T>
Status Multiply(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, MatrixRef<const T> a, MatrixRef<const T> b, bool accumulate,
                MatrixRef<T> c) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Stride = Eigen::OuterStride<>;
  Eigen::Map<const Matrix, 0, Stride> x(a.data, transpose_a ? k : m, transpose_a ? m : k, Stride(a.stride));
  Eigen::Map<const Matrix, 0, Stride> y(b.data, transpose_b ? n : k, transpose_b ? k : n, Stride(b.stride));
  Eigen::Map<Matrix, 0, Stride> z(c.data, m, n, Stride(c.stride));
  if (!accumulate) z.setZero();
  if (transpose_a) {
    z.noalias() += x.transpose() * y;
  } else if (transpose_b) {
    z.noalias() += x * y.transpose();
  } else {
    z.noalias() += x * y;
  }
  return OkStatus();
}

// Walks over the windows of output places [begin, end) and, for each run of taps along the width, calls
//   visit(patch offset, input offset or -1 for padding, count of values)
// with offsets in elements. `row` is the size of a patch.
template <typename Visit>
void ForEachRun(const ConvGeometry& g, int64_t begin, int64_t end, int64_t group, Visit visit) {
  const WindowDim &d = g.dims[0], &h = g.dims[1], &w = g.dims[2];
  const int64_t channels = g.in_channels / g.groups, first_channel = group * channels, row = g.patch_size();
  const bool is_contiguous = g.groups == 1 && w.dilation == 1;
  for (int64_t place = begin; place < end; ++place) {
    const int64_t ow = place % w.out, oh = place / w.out % h.out, od = place / (w.out * h.out) % d.out, batch = place / (w.out * h.out * d.out);
    int64_t patch = (place - begin) * row;
    const int64_t iw0 = ow * w.stride - w.before;
    for (int64_t kd = 0; kd < d.window; ++kd) {
      const int64_t id = od * d.stride - d.before + kd * d.dilation;
      for (int64_t kh = 0; kh < h.window; ++kh, patch += w.window * channels) {
        const int64_t ih = oh * h.stride - h.before + kh * h.dilation;
        if (id < 0 || id >= d.in || ih < 0 || ih >= h.in) {
          visit(patch, int64_t{-1}, w.window * channels);
          continue;
        }
        const int64_t line = ((batch * d.in + id) * h.in + ih) * w.in;
        if (is_contiguous) {
          const int64_t first = std::clamp<int64_t>(-iw0, 0, w.window), last = std::clamp<int64_t>(w.in - iw0, first, w.window);
          if (first > 0) visit(patch, int64_t{-1}, first * channels);
          if (last > first) visit(patch + first * channels, (line + iw0 + first) * channels, (last - first) * channels);
          if (w.window > last) visit(patch + last * channels, int64_t{-1}, (w.window - last) * channels);
          continue;
        }
        for (int64_t kw = 0; kw < w.window; ++kw) {
          const int64_t iw = iw0 + kw * w.dilation;
          const bool is_inside = iw >= 0 && iw < w.in;
          visit(patch + kw * channels, is_inside ? (line + iw) * g.in_channels + first_channel : int64_t{-1}, channels);
        }
      }
    }
  }
}

template <typename T>
void GatherPatches(const ConvGeometry& g, int64_t begin, int64_t end, int64_t group, const T* input, T* patches) {
  ForEachRun(g, begin, end, group, [=](int64_t patch, int64_t from, int64_t count) {
    if (from < 0) {
      std::fill_n(patches + patch, count, T(0));
    } else {
      std::copy_n(input + from, count, patches + patch);
    }
  });
}

template <typename T>
void AddPatches(const ConvGeometry& g, int64_t begin, int64_t end, int64_t group, const T* patches, T* input) {
  ForEachRun(g, begin, end, group, [=](int64_t patch, int64_t to, int64_t count) {
    if (to < 0) return;
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) input[to + i] += patches[patch + i];
  });
}

// A window of one tap and stride 1 without padding: the input itself is the matrix of patches.
bool IsPointwise(const ConvGeometry& g) {
  return std::all_of(g.dims.begin(), g.dims.end(), [](const WindowDim& d) { return d.window == 1 && d.stride == 1 && d.before == 0 && d.out == d.in; });
}

template <typename T>
struct Convolution {
  const ConvGeometry& g;
  const int64_t patch = g.patch_size(), places = g.out_places(), group_channels = g.out_channels / g.groups;
  const int64_t chunk = std::clamp<int64_t>(kPatchBufferBytes / static_cast<int64_t>(sizeof(T)) / std::max<int64_t>(1, patch), 1, std::max<int64_t>(1, places));
  Tensor buffer;

  // Calls work(group, first place, number of places) for all of them.
  template <typename Work>
  Status ForEachChunk(bool needs_buffer, Work work) {
    if (needs_buffer) {
      ASSIGN_OR_RETURN(buffer, Tensor::Allocate(kUint8, Shape{chunk * patch * static_cast<int64_t>(sizeof(T))}));
    }
    for (int64_t group = 0; group < g.groups; ++group) {
      for (int64_t begin = 0; begin < places; begin += chunk) RETURN_IF_ERROR(work(group, begin, std::min(chunk, places - begin)));
    }
    return OkStatus();
  }
  T* patches() { return static_cast<T*>(buffer.mutable_raw_data()); }

  // The patches of a chunk, in the buffer or in the input itself.
  MatrixRef<const T> Patches(const T* input, int64_t group, int64_t begin, int64_t count) {
    if (IsPointwise(g)) return {input + begin * g.in_channels + group * patch, g.in_channels};
    GatherPatches(g, begin, begin + count, group, input, patches());
    return {patches(), patch};
  }

  Status Forward(const T* input, const T* filter, T* output) {
    return ForEachChunk(!IsPointwise(g), [&](int64_t group, int64_t begin, int64_t count) {
      const int64_t channel = group * group_channels;
      return Multiply(false, false, count, group_channels, patch, Patches(input, group, begin, count), MatrixRef<const T>{filter + channel, g.out_channels},
                      false, MatrixRef<T>{output + begin * g.out_channels + channel, g.out_channels});
    });
  }

  Status BackpropInput(const T* filter, const T* gradient, T* input_gradient) {
    return ForEachChunk(true, [&](int64_t group, int64_t begin, int64_t count) {
      const int64_t channel = group * group_channels;
      RETURN_IF_ERROR(Multiply(false, true, count, patch, group_channels, MatrixRef<const T>{gradient + begin * g.out_channels + channel, g.out_channels},
                               MatrixRef<const T>{filter + channel, g.out_channels}, false, MatrixRef<T>{patches(), patch}));
      AddPatches(g, begin, begin + count, group, patches(), input_gradient);
      return OkStatus();
    });
  }

  Status BackpropFilter(const T* input, const T* gradient, T* filter_gradient) {
    return ForEachChunk(!IsPointwise(g), [&](int64_t group, int64_t begin, int64_t count) {
      const int64_t channel = group * group_channels;
      return Multiply(true, false, patch, group_channels, count, Patches(input, group, begin, count),
                      MatrixRef<const T>{gradient + begin * g.out_channels + channel, g.out_channels}, true,
                      MatrixRef<T>{filter_gradient + channel, g.out_channels});
    });
  }
};

// Calls work(T()) with the type to compute in: int32 as uint32, whose overflow is defined.
template <typename Work>
Status WithComputeType(DataType dtype, Work work) {
  switch (dtype) {
    case kFloat:
      return work(float());
    case kDouble:
      return work(double());
    case kInt32:
      return work(uint32_t());
    default:
      return Unimplemented("convolution of ", DataTypeName(dtype));
  }
}

void SetZero(Tensor* tensor) {
  if (tensor->num_elements() > 0) std::memset(tensor->mutable_raw_data(), 0, tensor->byte_size());
}

template <typename T>
const T* Values(const Tensor& tensor) {
  return static_cast<const T*>(tensor.raw_data());
}
template <typename T>
T* MutableValues(Tensor* tensor) {
  return static_cast<T*>(tensor->mutable_raw_data());
}

}  // namespace

StatusOr<ConvGeometry> MakeConvGeometry(const WindowSpec& spec, const Shape& input, const Shape& filter) {
  const int spatial = spec.spatial_dims(), rank = spatial + 2;
  if (input.rank() != rank) return InvalidArgument("input must be ", rank, "-dimensional: ", input.ToString());
  if (filter.rank() != rank) return InvalidArgument("filter must be ", rank, "-dimensional: ", filter.ToString());
  for (int64_t size : filter.dims()) {
    if (size == 0) return InvalidArgument("filter must not have zero elements (i.e. all dimensions must be non-zero), got ", filter.ToString());
  }
  ConvGeometry g;
  g.batch = input.dim(0);
  g.in_channels = input.dim(spec.channel_dim());
  g.out_channels = filter.dim(spatial + 1);
  const int64_t filter_channels = filter.dim(spatial);
  if (g.in_channels % filter_channels != 0) {
    return InvalidArgument("input depth must be evenly divisible by filter depth: ", g.in_channels, " vs ", filter_channels);
  }
  g.groups = std::max<int64_t>(1, g.in_channels / filter_channels);
  if (g.out_channels % g.groups != 0) {
    return InvalidArgument("output depth must be evenly divisible by number of groups: ", g.out_channels, " vs ", g.groups);
  }
  for (int i = 0; i < spatial; ++i) {
    WindowDim& dim = g.dims[3 - spatial + i];
    dim = spec.Dim(i, input.dim(spec.spatial_dim(i)), filter.dim(i));
    RETURN_IF_ERROR(FitWindow(spec.padding, &dim));
  }
  return g;
}

Shape ConvOutputShape(const WindowSpec& spec, const ConvGeometry& g) {
  Shape shape{g.batch};
  for (int i = 0; i < spec.spatial_dims(); ++i) shape.AddDim(g.dims[3 - spec.spatial_dims() + i].out);
  shape.InsertDim(spec.channel_dim(), g.out_channels);
  return shape;
}

Status ConvForward(const ConvGeometry& geometry, const Tensor& input, const Tensor& filter, Tensor* output) {
  if (output->num_elements() == 0) return OkStatus();
  return WithComputeType(output->dtype(), [&](auto zero) {
    using T = decltype(zero);
    return Convolution<T>{geometry}.Forward(Values<T>(input), Values<T>(filter), MutableValues<T>(output));
  });
}

Status ConvBackpropInput(const ConvGeometry& geometry, const Tensor& filter, const Tensor& gradient, Tensor* input_gradient) {
  SetZero(input_gradient);
  if (input_gradient->num_elements() == 0 || gradient.num_elements() == 0) return OkStatus();
  return WithComputeType(gradient.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return Convolution<T>{geometry}.BackpropInput(Values<T>(filter), Values<T>(gradient), MutableValues<T>(input_gradient));
  });
}

Status ConvBackpropFilter(const ConvGeometry& geometry, const Tensor& input, const Tensor& gradient, Tensor* filter_gradient) {
  SetZero(filter_gradient);
  if (input.num_elements() == 0 || gradient.num_elements() == 0) return OkStatus();
  return WithComputeType(gradient.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return Convolution<T>{geometry}.BackpropFilter(Values<T>(input), Values<T>(gradient), MutableValues<T>(filter_gradient));
  });
}

}  // namespace tandem
