// Reads TFRecord files, also while someone writes them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/file.h"
#include "core/status.h"

namespace tandem {

// One thread at a time.
class RecordReader {
 public:
  // Starts at byte `offset`, where a record must begin.
  explicit RecordReader(std::unique_ptr<ReadableFile> file, uint64_t offset = 0) : file_(std::move(file)), offset_(offset) {}

  // OutOfRange at the end of the file, DataLoss "truncated record at N" in the middle of a record, "corrupted record at N" for a wrong
  // checksum. After an error the place is as before: a file that grows may be asked again.
  Status Read(std::string* record);

  uint64_t offset() const { return offset_; }  // of the next record
  const std::string& path() const { return file_->path(); }

 private:
  // The `size` bytes from `offset` on, or fewer at the end of the file. Valid until the next call.
  StatusOr<absl::string_view> Peek(uint64_t offset, size_t size);

  const std::unique_ptr<ReadableFile> file_;
  uint64_t offset_;
  std::string buffer_;  // what was read from buffer_offset_ on
  uint64_t buffer_offset_ = 0;
};

}  // namespace tandem
