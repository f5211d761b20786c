// Indices of GatherNd, ScatterNd and kin: each names a slice of a tensor by the first few of its coordinates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/status.h"
#include "tandem/tensor.h"

namespace tandem {

struct NdIndex {
  Shape outer;                    // of the indices, without their last dimension
  Shape slice;                    // of what one index names
  std::vector<int64_t> offsets;   // of each slice, in elements; -1 where the index is out of range
  int64_t slice_size = 1;         // elements
  int64_t first_bad = -1;         // place in `offsets`, -1 if all are in range
};

// `indices`, of any integer type, has the coordinates in its last dimension. InvalidArgument if they are more than `indexed` has.
StatusOr<NdIndex> ReadNdIndex(const Tensor& indices, const Shape& indexed);

// InvalidArgument "indices[i] = [a, b] does not index into <what> [3,4]" if some index is out of range.
Status CheckNdIndex(const NdIndex& index, const Tensor& indices, const Shape& indexed, absl::string_view what);

// "2,1" for element `flat` of a tensor of that shape.
std::string IndexText(int64_t flat, const Shape& shape);

}  // namespace tandem
