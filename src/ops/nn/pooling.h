// Pooling of channels-last images by sliding windows.
#pragma once

#include <cstdint>

#include "core/status.h"
#include "ops/nn/window.h"
#include "tandem/tensor.h"

namespace tandem {

struct PoolGeometry {
  int64_t batch = 1, channels = 1;
  WindowDim height, width;

  Shape InputShape() const { return Shape{batch, height.in, width.in, channels}; }
  Shape OutputShape() const { return Shape{batch, height.out, width.out, channels}; }
};

// From an image's shape in the order of the data format. Pooling across channels becomes pooling along the width of an image of
// one channel; the memory is the same, the shapes of the geometry are then not those of the op.
StatusOr<PoolGeometry> MakePoolGeometry(const WindowSpec& spec, const Shape& input);
// The op's output shape, in the order of the data format.
StatusOr<Shape> PoolOutputShape(const WindowSpec& spec, const Shape& input);

// Calls visit(output offset, first row, past the last, first column, past the last) for each window with at least one real place.
template <typename Visit>
void ForEachWindow(const PoolGeometry& g, Visit visit) {
  int64_t to = 0;
  for (int64_t b = 0; b < g.batch; ++b) {
    for (int64_t oh = 0; oh < g.height.out; ++oh) {
      const int64_t top = oh * g.height.stride - g.height.before;
      const int64_t h0 = top < 0 ? 0 : top, h1 = top + g.height.window > g.height.in ? g.height.in : top + g.height.window;
      for (int64_t ow = 0; ow < g.width.out; ++ow, to += g.channels) {
        const int64_t left = ow * g.width.stride - g.width.before;
        const int64_t w0 = left < 0 ? 0 : left, w1 = left + g.width.window > g.width.in ? g.width.in : left + g.width.window;
        visit(b, to, h0, h1, w0, w1);
      }
    }
  }
}

}  // namespace tandem
