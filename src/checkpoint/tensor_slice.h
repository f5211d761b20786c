// A box of a tensor: what one part of a partitioned variable holds. Texts and keys: tensorflow-wire specification, section 4.4.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/status.h"
#include "tandem/tensor.h"

namespace tensorflow {
class TensorSliceProto;
}  // namespace tensorflow

namespace tandem {

struct SliceExtent {
  int64_t start = 0;
  int64_t length = -1;  // -1: the whole dimension, whatever its size; then start is 0

  bool is_whole() const { return length < 0; }
  bool operator==(const SliceExtent& other) const { return start == other.start && length == other.length; }
};

struct TensorSlice {
  std::vector<SliceExtent> extents;

  static TensorSlice Whole(int rank) { return {std::vector<SliceExtent>(static_cast<size_t>(rank))}; }
  // "0,5:-". InvalidArgument quoting what is wrong.
  static StatusOr<TensorSlice> Parse(absl::string_view text);
  static StatusOr<TensorSlice> FromProto(const tensorflow::TensorSliceProto& proto);
  void ToProto(tensorflow::TensorSliceProto* proto) const;
  std::string ToString() const;

  // The sizes that the slice cuts out of a tensor of shape `full`. Internal (sic: TensorFlow's code) if it does not lie inside.
  StatusOr<Shape> ShapeWithin(const Shape& full) const;
  // Whether it is all of `full`, in either notation. `full` must have its rank.
  bool Covers(const Shape& full) const;
  // The same slice with a start and a length in each dimension.
  TensorSlice Resolved(const Shape& full) const;

  bool operator==(const TensorSlice& other) const { return extents == other.extents; }
};

// "10 4 0,5:-": rows 0 to 4 of a [10,4] tensor.
struct ShapeAndSlice {
  Shape full;
  TensorSlice slice;
  Shape slice_shape;
};
StatusOr<ShapeAndSlice> ParseShapeAndSlice(absl::string_view text);

// The table key under which the numbers of a slice are stored.
std::string EncodeSliceKey(absl::string_view tensor_name, const TensorSlice& slice);
// Whether a table key is one of these. A tensor's own name does not start with a zero byte.
inline bool IsSliceKey(absl::string_view key) { return !key.empty() && key[0] == '\0'; }

// Copies what two boxes of one tensor have in common; returns how many elements that is. Both slices must be resolved, and the
// tensors have the shapes of their slices and the same type.
int64_t CopyOverlap(const Tensor& from, const TensorSlice& from_slice, Tensor* to, const TensorSlice& to_slice);

}  // namespace tandem
