// Writes TFRecord files: length, its checksum, data, its checksum, one record after the other. See docs/formats/events.md.
#pragma once

#include "absl/strings/string_view.h"
#include "core/file.h"
#include "core/status.h"

namespace tandem {

// Appends to a file that it does not own and that must outlive it. One thread at a time.
class RecordWriter {
 public:
  explicit RecordWriter(WritableFile* file) : file_(file) {}

  Status Write(absl::string_view record);

 private:
  WritableFile* const file_;
};

}  // namespace tandem
