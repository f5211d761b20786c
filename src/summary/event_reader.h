// Reads an event file, also one that is being written.
#pragma once

#include <memory>

#include "absl/strings/string_view.h"
#include "core/status.h"
#include "summary/record_reader.h"

namespace tensorflow {
class Event;
}  // namespace tensorflow

namespace tandem {

// One thread at a time.
class EventReader {
 public:
  static StatusOr<std::unique_ptr<EventReader>> Open(absl::string_view path);

  // OutOfRange when there is no whole event more, for now: the last one may be half written. DataLoss for a damaged one.
  Status Next(tensorflow::Event* event);

 private:
  explicit EventReader(std::unique_ptr<ReadableFile> file) : records_(std::move(file)) {}
  RecordReader records_;
};

}  // namespace tandem
