// Indices of GatherNd, ScatterNd and kin: each names a slice of a tensor by the first few of its coordinates.
#pragma once

#include <cstdint>
#include <string>

#include "core/status.h"
#include "ops/array/arguments.h"
#include "tandem/tensor.h"

namespace tandem {

struct NdIndex {
  Shape outer;                    // of the indices, without their last dimension
  Shape slice;                    // of what one index names
  int64_t slice_size = 1;         // elements; 0 if there is nothing to index
  int64_t first_bad = -1;         // the first index that is out of range, -1 if none is

  // Calls move(offset) for each index in order, `offset` being that of its slice in elements, -1 if out of range. Not at all if
  // slices are empty.
  template <typename F>
  void ForEachSlice(F move) const {
    if (slice_size == 0) return;
    int64_t count = outer.num_elements();
    for (int64_t i = 0; i < count; ++i) move(depth == 0 ? 0 : offsets[i]);
  }

  int64_t depth = 0;              // coordinates in an index
  Integers offsets;               // empty if depth is 0
};

// `indices`, of any integer type, has the coordinates in its last dimension. InvalidArgument if they are more than `indexed` has.
StatusOr<NdIndex> ReadNdIndex(const Tensor& indices, const Shape& indexed);

// InvalidArgument "indices[i] = [a, b] does not index into <what> [3,4]" if some index is out of range.
Status CheckNdIndex(const NdIndex& index, const Tensor& indices, const Shape& indexed, absl::string_view what);

// "2,1" for element `flat` of a tensor of that shape.
std::string IndexText(int64_t flat, const Shape& shape);

}  // namespace tandem
