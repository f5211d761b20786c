// Convolution as products of matrices: each output place is a row of the window's input values times the filter matrix.
#pragma once

#include <array>
#include <cstdint>

#include "core/status.h"
#include "ops/nn/window.h"
#include "tandem/tensor.h"

namespace tandem {

// Sizes of a convolution with up to three spatial dimensions; missing ones (in front) have size 1. Tensors are channels-last,
// filters [depth, height, width, in_channels / groups, out_channels].
struct ConvGeometry {
  int64_t batch = 1, in_channels = 1, out_channels = 1, groups = 1;
  std::array<WindowDim, 3> dims;

  int64_t out_places() const { return batch * dims[0].out * dims[1].out * dims[2].out; }
  int64_t window_places() const { return dims[0].window * dims[1].window * dims[2].window; }
  // Values that one output value of a group sees.
  int64_t patch_size() const { return window_places() * (in_channels / groups); }
};

// From the shapes of input and filter, in the order of the data format. InvalidArgument, with both shapes, if they do not fit.
StatusOr<ConvGeometry> MakeConvGeometry(const WindowSpec& spec, const Shape& input, const Shape& filter);
// The output's shape, in the order of the data format.
Shape ConvOutputShape(const WindowSpec& spec, const ConvGeometry& geometry);

// Tensors of float, double or int32 (which wraps around), as PrepareInput makes them; the last one is written.
// ResourceExhausted without memory.
Status ConvForward(const ConvGeometry& geometry, const Tensor& input, const Tensor& filter, Tensor* output);
Status ConvBackpropInput(const ConvGeometry& geometry, const Tensor& filter, const Tensor& gradient, Tensor* input_gradient);
Status ConvBackpropFilter(const ConvGeometry& geometry, const Tensor& input, const Tensor& gradient, Tensor* filter_gradient);

}  // namespace tandem
