// How array ops read their small integer inputs: sizes, axes, indices.
#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "core/status.h"
#include "graph/shape_inference.h"
#include "tandem/tensor.h"

namespace tandem {

// Sizes and axes are few: the usual ones cost no allocation.
using Integers = absl::InlinedVector<int64_t, 8>;

// The elements of a tensor of any integer type, widened.
StatusOr<Integers> ReadIntegers(const Tensor& tensor);

// The same of a tensor that must be a vector, or a scalar. InvalidArgument naming `what` otherwise.
StatusOr<Integers> ReadVector(const Tensor& tensor, absl::string_view what);
// A scalar; a vector of one element is let pass too, as TensorFlow does.
StatusOr<int64_t> ReadScalar(const Tensor& tensor, absl::string_view what);

// A vector of dtype int32 or int64. InvalidArgument if a value does not fit.
StatusOr<Tensor> MakeVector(DataType dtype, absl::Span<const int64_t> values);

// Counts a negative axis from the end. InvalidArgument unless -rank <= axis < rank.
StatusOr<int> ResolveAxis(int64_t axis, int rank);

// What a shape function knows of input i, an integer scalar; false if it is not constant.
bool ConstantScalar(const ShapeContext& ctx, int i, int64_t* value);
// The same of a vector.
bool ConstantVector(const ShapeContext& ctx, int i, Integers* values);

}  // namespace tandem
