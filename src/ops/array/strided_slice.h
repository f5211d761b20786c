// The meaning of x[begin:end:stride, newaxis, ..., i]: how StridedSlice and kin read their vectors and masks.
#pragma once

#include <cstdint>

#include "graph/attrs.h"
#include "ops/array/arguments.h"
#include "ops/array/strided_copy.h"

namespace tandem {

// Bit i of a mask speaks of the i-th entry of begin, end and strides.
struct SliceMasks {
  explicit SliceMasks(const Attrs& attrs);
  int64_t begin, end, ellipsis, new_axis, shrink;
};

// What to take of a tensor of known shape: in dimension i the `sizes[i]` elements begin[i], begin[i] + steps[i], …
struct SlicePlan {
  Strides begin, steps, sizes;
  Shape result;  // with the new axes, without the shrunk ones

  // For StridedCopy on the sliced tensor.
  int64_t Offset(const Shape& sliced) const;
  Strides ElementStrides(const Shape& sliced) const;
};

// InvalidArgument, with TensorFlow's texts, for vectors of unequal lengths, a zero stride, an index out of bounds.
StatusOr<SlicePlan> PlanSlice(const Shape& sliced, const Tensor& begin, const Tensor& end, const Tensor& strides, const SliceMasks& masks);

// The shape of the result as far as known; null for what is not constant. `count` is the length of the vectors.
StatusOr<PartialShape> SliceResultShape(const PartialShape& sliced, int count, const Integers* begin, const Integers* end,
                                        const Integers* strides, const SliceMasks& masks);

}  // namespace tandem
