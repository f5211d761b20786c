// What the files of a V2 checkpoint ("tensor bundle") contain: <prefix>.index, a table from names to entries, and
// <prefix>.data-NNNNN-of-NNNNN, the tensors' bytes. Layout: docs/formats/checkpoint.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "checkpoint/tensor_slice.h"
#include "core/status.h"
#include "tandem/tensor.h"

namespace tandem {

std::string IndexFileName(absl::string_view prefix);
std::string DataFileName(absl::string_view prefix, int shard, int shard_count);

// The entry of the empty key.
struct BundleHeader {
  int shard_count = 1;
  bool is_big_endian = false;

  std::string Serialize() const;
  // DataLoss if it is damaged, InvalidArgument if it needs a newer reader.
  static StatusOr<BundleHeader> Parse(absl::string_view bytes);
};

// Of a tensor, of a slice (then `shape` is the slice's), or of a partitioned variable as a whole: then `slices` says of what parts,
// and there are no bytes.
struct BundleEntry {
  DataType dtype = kInvalid;
  Shape shape;
  int shard = 0;
  int64_t offset = 0, size = 0;  // bytes, in the shard's data file
  uint32_t masked_crc = 0;
  std::vector<TensorSlice> slices;

  std::string Serialize() const;
  // DataLoss if it is damaged or contradicts itself.
  static StatusOr<BundleEntry> Parse(absl::string_view bytes);
};

}  // namespace tandem
