// Reads a V2 checkpoint, of however many data files, written by Tandem or TensorFlow.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "checkpoint/bundle_format.h"
#include "core/file.h"
#include "core/mutex.h"
#include "core/status.h"
#include "tandem/tensor.h"

namespace tandem {

// The index is read when opened, the tensors when asked for; the bytes of each are checked against its checksum. A damaged file is
// DataLoss, never OutOfRange, which would look like the end of the input. Any thread.
class BundleReader {
 public:
  // NotFound without an index, DataLoss if it is damaged.
  static StatusOr<std::unique_ptr<BundleReader>> Open(absl::string_view prefix);

  const std::string& prefix() const { return prefix_; }
  const BundleHeader& header() const { return header_; }
  // All entries by key, with those of slices (IsSliceKey).
  const std::map<std::string, BundleEntry>& entries() const { return entries_; }

  bool Contains(absl::string_view name) const { return Find(name) != nullptr; }
  // NotFound "Key N not found in checkpoint". A partitioned variable has the shape of the whole.
  StatusOr<const BundleEntry*> Lookup(absl::string_view name) const;
  StatusOr<Tensor> Read(absl::string_view name) const;
  // Also of a variable that was stored whole, or in other parts. InvalidArgument if no stored part holds some of it.
  StatusOr<Tensor> ReadSlice(absl::string_view name, const TensorSlice& slice) const;

 private:
  explicit BundleReader(std::string prefix) : prefix_(std::move(prefix)) {}
  const BundleEntry* Find(absl::string_view name) const;
  StatusOr<const ReadableFile*> DataFile(int shard) const;
  StatusOr<Tensor> ReadEntry(const BundleEntry& entry) const;
  Status ReadNumbers(const BundleEntry& entry, const ReadableFile& file, Tensor* tensor) const;
  Status ReadStrings(const BundleEntry& entry, const ReadableFile& file, Tensor* tensor) const;
  StatusOr<Tensor> Assemble(absl::string_view name, const BundleEntry& whole, const TensorSlice& slice) const;
  Status ChecksumMismatch(const BundleEntry& entry, uint32_t computed) const;

  const std::string prefix_;
  BundleHeader header_;
  std::map<std::string, BundleEntry> entries_;

  mutable Mutex mu_;
  mutable absl::flat_hash_map<int, std::unique_ptr<ReadableFile>> files_ ABSL_GUARDED_BY(mu_);  // by shard
};

}  // namespace tandem
