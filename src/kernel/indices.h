// Index tensors (int32 or int64) that come from outside: every index is checked, and the value that was checked is the value used,
// even while another step overwrites the buffer (a reference variable may hold indices).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "core/status.h"
#include "tandem/tensor.h"

namespace tandem {

class IndexReader {
 public:
  // `indices` must live as long as the reader.
  explicit IndexReader(const Tensor& indices)
      : narrow_(indices.dtype() == kInt32 ? indices.data<int32_t>() : nullptr), wide_(narrow_ == nullptr ? indices.data<int64_t>() : nullptr) {}

  int64_t operator[](int64_t i) const {
    return narrow_ != nullptr ? *static_cast<const volatile int32_t*>(narrow_ + i) : *static_cast<const volatile int64_t*>(wide_ + i);
  }

 private:
  const int32_t* narrow_;
  const int64_t* wide_;
};

// The offset of the first index outside [0, limit), or -1.
inline int64_t FirstIndexOutside(const Tensor& indices, int64_t limit) {
  const IndexReader reader(indices);
  const int64_t count = indices.num_elements();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = reader[i];
    if (index < 0 || index >= limit) return i;
  }
  return -1;
}

// Calls apply(offset, index) for each index, after a look at all of them. Returns -1, or the offset of the first index outside
// [0, limit); then nothing was applied, unless the indices changed meanwhile.
template <typename Apply>
int64_t ForEachIndex(const Tensor& indices, int64_t limit, Apply apply) {
  if (const int64_t bad = FirstIndexOutside(indices, limit); bad >= 0) return bad;
  const IndexReader reader(indices);
  const int64_t count = indices.num_elements();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = reader[i];
    if (index < 0 || index >= limit) return i;
    apply(i, index);
  }
  return -1;
}

// "[1,2]": where the element at `offset` of a tensor of that shape is; "" in a scalar.
inline std::string PositionInShape(const Shape& shape, int64_t offset) {
  if (shape.rank() == 0) return "";
  std::vector<int64_t> position(shape.rank());
  for (int d = shape.rank() - 1; d >= 0; --d) {
    position[d] = offset % shape.dim(d);
    offset /= shape.dim(d);
  }
  return absl::StrCat("[", absl::StrJoin(position, ","), "]");
}

// InvalidArgument "indices[0,1] = 5 is not in [0, 2)".
inline Status IndexOutOfRange(const Tensor& indices, int64_t offset, int64_t limit) {
  return InvalidArgument("indices", PositionInShape(indices.shape(), offset), " = ", IndexReader(indices)[offset], " is not in [0, ", limit, ")");
}

}  // namespace tandem
