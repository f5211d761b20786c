#include "tandem/summary.h"

#include "absl/strings/ascii.h"
#include "client/node_builder.h"
#include "core/log.h"
#include "graph/graph_state.h"
#include "tandem/error.h"
#include "tandem/ops.h"

namespace tandem::summary {
namespace {

// As TensorFlow's clients do: what a node name cannot have becomes "_", leading slashes go.
std::string CleanName(absl::string_view name) {
  std::string clean;
  for (char c : name) clean += absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.' || c == '/' ? c : '_';
  clean.erase(0, clean.find_first_not_of('/'));
  if (clean != name) LogInfo("the summary '", name, "' is called '", clean, "': node names cannot have other characters");
  return clean;
}

Output AddSummary(const char* op, absl::string_view name, const Output& value) {
  if (!value.is_valid()) throw Error(InvalidArgument("the value of summary '", name, "' is not set"));
  Graph& graph = value.graph();
  const std::string clean = CleanName(name);
  const std::string tag = graph.state().name_prefix + clean;
  Output tags = Const(graph, tag, clean + "/tags");
  Output made = NodeBuilder(op, clean).In(tags).In(value).Build().output();
  graph.AddToCollection(kSummaries, made);
  return made;
}

}  // namespace

Output Scalar(absl::string_view name, const Output& value) { return AddSummary("ScalarSummary", name, value); }
Output Histogram(absl::string_view name, const Output& values) { return AddSummary("HistogramSummary", name, values); }

Output MergeAll(Graph& graph) {
  const std::vector<Output> summaries = graph.Collection(kSummaries);
  if (summaries.empty()) return Output();
  return NodeBuilder("MergeSummary", "Merge/MergeSummary").In(summaries).Build().output();
}

}  // namespace tandem::summary
