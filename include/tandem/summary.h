// What TensorBoard shows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "tandem/graph.h"

namespace tandem::summary {

// Each returns the output that makes a serialised Summary, and is kept in the collection "summaries". The tag is the name
// within its name scope; characters that node names cannot have become "_", with a log line.
Output Scalar(absl::string_view name, const Output& value);
Output Histogram(absl::string_view name, const Output& values);
// All summaries of the graph in one; an invalid Output if there are none.
Output MergeAll(Graph& graph);

inline constexpr char kSummaries[] = "summaries";

}  // namespace tandem::summary

namespace tandem {

class EventWriter;

// An event file in `directory`, which is made if it is missing. Any thread. Methods throw tandem::Error.
class FileWriter {
 public:
  explicit FileWriter(const std::string& directory);
  // Writes what is left.
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;

  void AddGraph(const Graph& graph);
  // `summary` is a fetched summary: a string scalar.
  void AddSummary(const Tensor& summary, int64_t step);
  void AddScalar(const std::string& tag, float value, int64_t step);
  // SessionLog entries: the start of a run at `step`, a checkpoint that was written, the end.
  void AddStart(int64_t step);
  void AddCheckpoint(const std::string& path, int64_t step);
  void AddStop();
  void Flush();

 private:
  std::unique_ptr<EventWriter> writer_;
};

}  // namespace tandem
