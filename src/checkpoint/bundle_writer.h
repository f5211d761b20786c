// Writes a V2 checkpoint of one data file, byte for byte as TensorFlow does.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "checkpoint/bundle_format.h"
#include "core/file.h"
#include "core/status.h"
#include "tandem/tensor.h"

namespace tandem {

// Tensors go to disk as they are added, without a copy in memory. Until Finish there are only files with temporary names, and a writer
// that is destroyed before removes them. One thread at a time. After an error nothing more can be added.
class BundleWriter {
 public:
  // Makes the prefix's directory, but not that directory's parents: NotFound without them.
  static StatusOr<std::unique_ptr<BundleWriter>> Create(absl::string_view prefix);
  ~BundleWriter();
  BundleWriter(const BundleWriter&) = delete;

  // InvalidArgument for a name that was added before, Unimplemented for resources.
  Status Add(absl::string_view name, const Tensor& tensor);
  // Part of the partitioned variable `name` of shape `full`. A slice that is all of it is stored as a plain tensor.
  Status AddSlice(absl::string_view name, const Shape& full, const TensorSlice& slice, const Tensor& tensor);
  // Syncs and renames: the data first, then the index, so that a checkpoint that is there is whole. It replaces an older one.
  Status Finish();

 private:
  BundleWriter(std::string prefix, std::unique_ptr<WritableFile> data);
  Status TryAdd(absl::string_view name, const Tensor& tensor);
  Status TryAddSlice(absl::string_view name, const Shape& full, const TensorSlice& slice, const Tensor& tensor);
  Status TryFinish();
  Status AppendData(absl::string_view bytes, BundleEntry* entry, uint32_t* crc);

  const std::string prefix_;
  std::unique_ptr<WritableFile> data_;  // null once closed
  int64_t data_size_ = 0;
  std::map<std::string, BundleEntry> entries_;  // in the order of the index
  Status status_;
};

// Writes an index with these entries, under a temporary name that becomes <prefix>.index.
Status WriteBundleIndex(absl::string_view prefix, const BundleHeader& header, const std::map<std::string, BundleEntry>& entries);

}  // namespace tandem
