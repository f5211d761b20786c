// Writes the event file of a run, which TensorBoard shows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "core/file.h"
#include "core/mutex.h"
#include "core/status.h"
#include "summary/record_writer.h"

namespace tensorflow {
class Event;
class Summary;
}  // namespace tensorflow

namespace tandem {

struct EventWriterOptions {
  std::string suffix;       // of the file's name
  int max_pending = 10;     // events kept back before they are handed to the system
  int flush_seconds = 120;  // longest time that an event is kept back when another one follows
};

// Makes <directory>/events.out.tfevents.<seconds>.<host><suffix> with the first record that says what file it is. Any thread. The
// destructor flushes and closes.
class EventWriter {
 public:
  // Makes the directory with its parents. Never goes on with a file that is there.
  static StatusOr<std::unique_ptr<EventWriter>> Create(absl::string_view directory, const EventWriterOptions& options = {});
  ~EventWriter();

  const std::string& path() const { return file_->path(); }

  // Sets wall_time to now if it is 0.
  Status Write(const tensorflow::Event& event);
  // `summary` as a summary op returns it, serialised. InvalidArgument if it is not one.
  Status WriteSummary(absl::string_view summary, int64_t step);
  Status WriteScalar(absl::string_view tag, float value, int64_t step);
  // A serialised GraphDef.
  Status WriteGraph(absl::string_view graph_def);

  Status Flush();
  Status Close();  // nothing may follow

 private:
  EventWriter(std::unique_ptr<WritableFile> file, const EventWriterOptions& options);
  Status WriteRecord(const tensorflow::Event& event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Status FlushLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const EventWriterOptions options_;
  const std::unique_ptr<WritableFile> file_;  // its contents are guarded by mu_
  Mutex mu_;
  RecordWriter records_ ABSL_GUARDED_BY(mu_);
  int pending_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t last_flush_nanos_ ABSL_GUARDED_BY(mu_);  // MonotonicNanos
};

}  // namespace tandem
