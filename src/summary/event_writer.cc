#include "summary/event_writer.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "core/clock.h"
#include "core/net_address.h"
#include "proto/summary.pb.h"

namespace tandem {
namespace {

constexpr char kFileVersion[] = "brain.Event:2";

}  // namespace

EventWriter::EventWriter(std::unique_ptr<WritableFile> file, const EventWriterOptions& options)
    : options_(options), file_(std::move(file)), records_(file_.get()), last_flush_nanos_(MonotonicNanos()) {}

StatusOr<std::unique_ptr<EventWriter>> EventWriter::Create(absl::string_view directory, const EventWriterOptions& options) {
  RETURN_IF_ERROR(CreateDirectories(directory));
  int64_t seconds = NowMicros() / 1000000;
  std::string path;
  do {
    path = JoinPath(directory, absl::StrFormat("events.out.tfevents.%010d.%s%s", seconds++, LocalHostName(), options.suffix));
  } while (FileExists(path));
  ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, WritableFile::Create(path));
  std::unique_ptr<EventWriter> writer(new EventWriter(std::move(file), options));
  tensorflow::Event first;
  first.set_file_version(kFileVersion);
  RETURN_IF_ERROR(writer->Write(first));
  // The file shows at once that the run is there.
  RETURN_IF_ERROR(writer->Flush());
  return writer;
}

EventWriter::~EventWriter() {
  Close().IgnoreError();  // nobody is left to tell
}

Status EventWriter::Write(const tensorflow::Event& event) {
  MutexLock lock(&mu_);
  if (event.wall_time() != 0) return WriteRecord(event);
  tensorflow::Event stamped = event;
  stamped.set_wall_time(NowSeconds());
  return WriteRecord(stamped);
}

Status EventWriter::WriteRecord(const tensorflow::Event& event) {
  RETURN_IF_ERROR(records_.Write(event.SerializeAsString()));
  bool is_late = MonotonicNanos() - last_flush_nanos_ >= int64_t{options_.flush_seconds} * 1000000000;
  return ++pending_ >= options_.max_pending || is_late ? FlushLocked() : OkStatus();
}

Status EventWriter::WriteSummary(absl::string_view summary, int64_t step) {
  tensorflow::Event event;
  if (!event.mutable_summary()->ParseFromArray(summary.data(), static_cast<int>(summary.size()))) {
    return InvalidArgument("these ", summary.size(), " bytes are not a summary");
  }
  event.set_step(step);
  return Write(event);
}

Status EventWriter::WriteScalar(absl::string_view tag, float value, int64_t step) {
  tensorflow::Event event;
  auto* made = event.mutable_summary()->add_value();
  made->set_tag(std::string(tag));
  made->set_simple_value(value);
  event.set_step(step);
  return Write(event);
}

Status EventWriter::WriteGraph(absl::string_view graph_def) {
  tensorflow::Event event;
  event.set_graph_def(std::string(graph_def));
  return Write(event);
}

Status EventWriter::FlushLocked() {
  pending_ = 0;
  last_flush_nanos_ = MonotonicNanos();
  return file_->Flush();
}

Status EventWriter::Flush() {
  MutexLock lock(&mu_);
  return FlushLocked();
}

Status EventWriter::Close() {
  MutexLock lock(&mu_);
  return file_->Close();
}

}  // namespace tandem
