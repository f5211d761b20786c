// What the max-pooling ops share: the loops over windows for all types, and the attrs.
#pragma once

#include <vector>

#include "graph/shape_inference.h"
#include "ops/nn/layout.h"
#include "ops/nn/pooling.h"

namespace tandem {

// Tensors are as PrepareInput makes them. Unimplemented for types that have no order.

// The largest value of each window. Padding takes no part.
Status FillMax(const PoolGeometry& geometry, const Tensor& input, Tensor* output);
// The offset into the input of each window's first largest value, in row-major order; -1 for a window of padding only.
StatusOr<std::vector<int64_t>> PlacesOfMax(const PoolGeometry& geometry, const Tensor& input);
// output[i] = values[places[i]], or `absent` where there is no place.
enum class Absent { kZero, kLowest };
Status PickPlaces(const Tensor& values, absl::Span<const int64_t> places, Absent absent, Tensor* output);
// Zeros, and gradient[i] added at places[i]. Places must lie within the result or be negative.
Status ScatterGradient(const Tensor& gradient, absl::Span<const int64_t> places, Tensor* result);

// Attrs of an op; the V2 ops have ksize and strides as their last inputs.
struct MaxPoolKernel {
  explicit MaxPoolKernel(const Attrs& attrs);
  StatusOr<WindowSpec> Spec(const KernelContext& ctx) const;

 private:
  const bool has_window_inputs_;
  WindowSpec spec_;
};

// InvalidArgument "Expected <what> shape to be …" unless the tensor has it.
Status CheckShape(const Tensor& tensor, const Shape& expected, absl::string_view what);

// From attrs ksize, strides, padding; unknown without ksize.
Status MaxPoolShape(ShapeContext& ctx);

}  // namespace tandem
