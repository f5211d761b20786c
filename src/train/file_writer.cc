#include "core/clock.h"
#include "graph/graph_state.h"
#include "proto/summary.pb.h"
#include "summary/event_writer.h"
#include "tandem/error.h"
#include "tandem/summary.h"

namespace tandem {
namespace {

tensorflow::Event SessionLogEvent(tensorflow::SessionLog::SessionStatus status, int64_t step) {
  tensorflow::Event event;
  event.set_wall_time(NowSeconds());
  event.set_step(step);
  event.mutable_session_log()->set_status(status);
  return event;
}

}  // namespace

FileWriter::FileWriter(const std::string& directory) : writer_(ValueOrThrow(EventWriter::Create(directory))) {}
FileWriter::~FileWriter() = default;

void FileWriter::AddGraph(const Graph& graph) { ThrowIfError(writer_->WriteGraph(graph.ToGraphDef())); }

void FileWriter::AddSummary(const Tensor& summary, int64_t step) {
  if (summary.dtype() != kString || summary.num_elements() != 1) {
    throw Error(InvalidArgument("a summary is one string, not ", summary.ToString(0)));
  }
  ThrowIfError(writer_->WriteSummary(summary.scalar<std::string>(), step));
}

void FileWriter::AddScalar(const std::string& tag, float value, int64_t step) { ThrowIfError(writer_->WriteScalar(tag, value, step)); }

void FileWriter::AddStart(int64_t step) { ThrowIfError(writer_->Write(SessionLogEvent(tensorflow::SessionLog::START, step))); }

void FileWriter::AddCheckpoint(const std::string& path, int64_t step) {
  tensorflow::Event event = SessionLogEvent(tensorflow::SessionLog::CHECKPOINT, step);
  event.mutable_session_log()->set_checkpoint_path(path);
  ThrowIfError(writer_->Write(event));
}

void FileWriter::AddStop() { ThrowIfError(writer_->Write(SessionLogEvent(tensorflow::SessionLog::STOP, 0))); }
void FileWriter::Flush() { ThrowIfError(writer_->Flush()); }

}  // namespace tandem
