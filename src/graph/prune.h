// What of a graph one kind of step needs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "graph/node.h"

namespace tandem {

// A step as the client asks for it. The graph must outlive it.
struct StepSpec {
  std::vector<Output> feeds;
  std::vector<Output> fetches;
  std::vector<Node*> targets;
  std::vector<std::pair<Output, Output>> connections;  // whoever reads `second` reads `first` instead
};

// From the names of a request ("x:0", or "x" for output 0; targets also "x"). Errors and texts are TensorFlow's: NotFound
// "FetchOutputs node zz:0: not found", InvalidArgument `Endpoint "x:0" fed more than once.` … Double fetches and targets are kept once;
// `fetches` then has fewer entries than `fetch_names`: fetch_names[i] is fetches[fetch_index[i]].
StatusOr<StepSpec> ResolveStep(const Graph& graph, absl::Span<const std::string> feed_names, absl::Span<const std::string> fetch_names,
                               absl::Span<const std::string> target_names, std::vector<int>* fetch_index = nullptr);

// The nodes that run in a step, and where each takes its inputs from.
class StepGraph {
 public:
  // Who gives a value or, with output == kControl, the permission to run.
  struct Source {
    static constexpr int kControl = -1;
    int node = -1;    // index in nodes(); -1 if it is a feed
    int output = 0;
    int feed = -1;    // index in spec().feeds; -1 if it is a node
    bool is_feed() const { return feed >= 0; }
    bool is_control() const { return output == kControl; }
  };

  const StepSpec& spec() const { return spec_; }
  // In topological order (but for the back edges of NextIteration).
  const std::vector<Node*>& nodes() const { return nodes_; }
  // Data inputs in their order, then control inputs, each once. A fed output's source is its feed; so is a control edge out of a
  // Placeholder that is fed.
  const std::vector<Source>& inputs(int node) const { return inputs_[node]; }
  // Where fetch i comes from.
  const Source& fetch(int i) const { return fetches_[i]; }
  // Index in nodes(), -1 if the node does not run.
  int IndexOf(const Node* node) const;
  // With the mark of a reference if it is one; kFloat for a control source.
  DataType dtype(const Source& source) const;

 private:
  friend StatusOr<StepGraph> Prune(const Graph& graph, StepSpec spec);
  StepSpec spec_;
  std::vector<Node*> nodes_;
  std::vector<std::vector<Source>> inputs_;
  std::vector<Source> fetches_;
  std::vector<int> index_by_id_;
};

// Keeps what fetches and targets need, going backwards over data and control edges but not through fed outputs: a node of which
// every needed output is fed does not run. InvalidArgument for an output both fed and fetched, a connection that would close a
// loop, and a step without fetch and target.
StatusOr<StepGraph> Prune(const Graph& graph, StepSpec spec);

}  // namespace tandem
