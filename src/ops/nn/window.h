// Sliding windows: how convolution and pooling map places of the output to places of the input.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "graph/attrs.h"
#include "tandem/shape.h"

namespace tandem {

enum class Padding { kValid, kSame, kExplicit };

// One spatial dimension. Tap k of the window at output place o looks at input place o · stride - before + k · dilation; places
// outside [0, in) are padding.
struct WindowDim {
  int64_t in = 1, window = 1, stride = 1, dilation = 1, out = 1;
  int64_t before = 0, after = 0;  // padding
};

// Fills in `out` and the padding (which is given with kExplicit). Unknown `in` or `window` (kUnknownSize) gives unknown `out`.
// InvalidArgument if a number is out of range or `out` would be negative.
Status FitWindow(Padding padding, WindowDim* dim);

// The attrs of a windowed op, in order of its spatial dimensions (height, width, or depth, height, width).
struct WindowSpec {
  bool is_channels_first = false;
  Padding padding = Padding::kValid;
  std::vector<int64_t> sizes, strides, dilations;  // `sizes`: of pooling, empty for convolution
  std::vector<std::pair<int64_t, int64_t>> explicit_padding;
  int64_t channel_size = 1, channel_stride = 1;  // of pooling across channels

  int spatial_dims() const { return static_cast<int>(strides.size()); }
  int channel_dim() const { return is_channels_first ? 1 : spatial_dims() + 1; }
  int spatial_dim(int i) const { return is_channels_first ? i + 2 : i + 1; }
  // Dimension i with the input size `in` and the window `window`.
  WindowDim Dim(int i, int64_t in, int64_t window) const;
};

// From attrs padding, strides and, where the op has them, ksize, dilations, explicit_paddings, data_format.
StatusOr<WindowSpec> ReadWindowSpec(const Attrs& attrs, int spatial_dims);
// Lists of one number per dimension, in the order of the data format, as ReadWindowSpec reads them from attrs.
Status SetWindow(absl::Span<const int64_t> sizes, absl::Span<const int64_t> strides, WindowSpec* spec);

}  // namespace tandem
