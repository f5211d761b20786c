#include "summary/event_reader.h"

#include <utility>

#include "absl/strings/match.h"
#include "proto/summary.pb.h"

namespace tandem {

StatusOr<std::unique_ptr<EventReader>> EventReader::Open(absl::string_view path) {
  ASSIGN_OR_RETURN(std::unique_ptr<ReadableFile> file, ReadableFile::Open(path));
  return std::unique_ptr<EventReader>(new EventReader(std::move(file)));
}

Status EventReader::Next(tensorflow::Event* event) {
  std::string record;
  uint64_t offset = records_.offset();
  Status status = records_.Read(&record);
  if (status.code() == absl::StatusCode::kDataLoss && absl::StartsWith(status.message(), "truncated")) return OutOfRange(status.message());
  RETURN_IF_ERROR(status);
  if (!event->ParseFromString(record)) return DataLoss("the record at ", offset, " of ", records_.path(), " is not an event");
  return OkStatus();
}

}  // namespace tandem
