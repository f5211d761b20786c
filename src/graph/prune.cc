#include "graph/prune.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"

namespace tandem {
namespace {

// "x:0" or "x"; an empty name if the index is not a number.
std::pair<absl::string_view, int> SplitEndpoint(absl::string_view text) {
  size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return {text, 0};
  int index = 0;
  if (!absl::SimpleAtoi(text.substr(colon + 1), &index) || index < 0) return {"", 0};
  return {text.substr(0, colon), index};
}

Status ResolveFeeds(const Graph& graph, absl::Span<const std::string> names, StepSpec* spec) {
  absl::flat_hash_set<std::pair<const Node*, int>> seen;
  for (const std::string& text : names) {
    auto [name, index] = SplitEndpoint(text);
    Node* node = graph.FindNode(name);
    if (node == nullptr) return NotFound("FeedInputs: unable to find feed output ", text);
    int count = static_cast<int>(node->output_types.size());
    if (index >= count) return InvalidArgument("FeedInputs: ", text, " should have output index < ", count);
    if (!seen.emplace(node, index).second) return InvalidArgument("Endpoint \"", text, "\" fed more than once.");
    spec->feeds.push_back(Output(node, index));
  }
  return OkStatus();
}

Status ResolveFetches(const Graph& graph, absl::Span<const std::string> names, StepSpec* spec, std::vector<int>* fetch_index) {
  absl::flat_hash_map<std::pair<const Node*, int>, int> seen;
  for (const std::string& text : names) {
    auto [name, index] = SplitEndpoint(text);
    Node* node = graph.FindNode(name);
    if (node == nullptr) return NotFound("FetchOutputs node ", text, ": not found");
    int count = static_cast<int>(node->output_types.size());
    if (index >= count) return InvalidArgument("FetchOutputs ", text, ": output index too large, must be < ", count);
    auto [found, is_new] = seen.emplace(std::make_pair(node, index), static_cast<int>(spec->fetches.size()));
    if (is_new) spec->fetches.push_back(Output(node, index));
    if (fetch_index != nullptr) fetch_index->push_back(found->second);
  }
  return OkStatus();
}

Status ResolveTargets(const Graph& graph, absl::Span<const std::string> names, StepSpec* spec) {
  std::string missing;
  absl::flat_hash_set<const Node*> seen;
  for (const std::string& text : names) {
    Node* node = graph.FindNode(SplitEndpoint(text).first);
    if (node == nullptr) {
      absl::StrAppend(&missing, text, " ");
    } else if (seen.insert(node).second) {
      spec->targets.push_back(node);
    }
  }
  return missing.empty() ? OkStatus() : NotFound("PruneForTargets: Some target nodes not found: ", missing);
}

}  // namespace

StatusOr<StepSpec> ResolveStep(const Graph& graph, absl::Span<const std::string> feed_names, absl::Span<const std::string> fetch_names,
                               absl::Span<const std::string> target_names, std::vector<int>* fetch_index) {
  StepSpec spec;
  RETURN_IF_ERROR(ResolveFeeds(graph, feed_names, &spec));
  RETURN_IF_ERROR(ResolveFetches(graph, fetch_names, &spec, fetch_index));
  RETURN_IF_ERROR(ResolveTargets(graph, target_names, &spec));
  return spec;
}

// Fills a StepGraph: first the needed nodes and where their inputs come from, by node id, then their order.
class Pruner {
 public:
  using Source = StepGraph::Source;

  Pruner(const Graph& graph, const StepSpec& spec) : graph_(graph), spec_(spec), inputs_(graph.nodes().size()), is_needed_(graph.nodes().size(), false) {}

  Status Collect() {
    for (size_t i = 0; i < spec_.feeds.size(); ++i) feeds_.emplace(Key(spec_.feeds[i]), static_cast<int>(i));
    for (const auto& [from, to] : spec_.connections) connected_.emplace(Key(to), from);
    if (spec_.fetches.empty() && spec_.targets.empty()) return InvalidArgument("Must specify at least one target to fetch or execute.");
    for (const Output& fetch : spec_.fetches) {
      if (feeds_.contains(Key(fetch))) return InvalidArgument(fetch.name(), " is both fed and fetched.");
      Need(fetch.node);
    }
    for (Node* target : spec_.targets) Need(target);
    while (!open_.empty()) {
      Node* node = open_.back();
      open_.pop_back();
      Visit(*node);
    }
    return OkStatus();
  }

  // By node id: an edge's source is still an id, not a place in the order.
  const std::vector<Source>& inputs(int id) const { return inputs_[id]; }

  // Ids of the needed nodes so that each comes after its sources.
  StatusOr<std::vector<int>> Order() const {
    std::vector<std::vector<int>> consumers(inputs_.size());
    std::vector<int> pending(inputs_.size(), 0);
    std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
    size_t count = 0;
    for (size_t id = 0; id < inputs_.size(); ++id) {
      if (!is_needed_[id]) continue;
      ++count;
      for (const Source& source : inputs_[id]) {
        if (source.is_feed() || IsBackEdge(*graph_.nodes()[source.node], *graph_.nodes()[id])) continue;
        consumers[source.node].push_back(static_cast<int>(id));
        ++pending[id];
      }
      if (pending[id] == 0) ready.push(static_cast<int>(id));
    }
    std::vector<int> order;
    order.reserve(count);
    while (!ready.empty()) {
      int next = ready.top();
      ready.pop();
      order.push_back(next);
      for (int consumer : consumers[next]) {
        if (--pending[consumer] == 0) ready.push(consumer);
      }
    }
    if (order.size() == count) return order;
    if (spec_.connections.empty()) return InvalidArgument(count - order.size(), " nodes in a cycle");
    const auto& [from, to] = spec_.connections.front();
    return InvalidArgument("Requested Tensor connection between nodes \"", from.node->name(), "\" and \"", to.node->name(), "\" would create a cycle.");
  }

 private:
  static std::pair<const Node*, int> Key(const Output& output) { return {output.node, output.index}; }

  void Need(Node* node) {
    if (is_needed_[node->id]) return;
    is_needed_[node->id] = true;
    open_.push_back(node);
  }

  void Visit(const Node& node) {
    std::vector<Source>& sources = inputs_[node.id];
    sources.reserve(node.inputs.size() + node.control_inputs.size());
    for (Output input : node.inputs) {
      if (auto found = connected_.find(Key(input)); found != connected_.end()) input = found->second;
      if (auto found = feeds_.find(Key(input)); found != feeds_.end()) {
        sources.push_back({-1, 0, found->second});
      } else {
        sources.push_back({input.node->id, input.index, -1});
        Need(input.node);
      }
    }
    for (Node* control : node.control_inputs) {
      int feed = FeedOfPlaceholder(*control);
      if (feed >= 0) {
        sources.push_back({-1, Source::kControl, feed});
      } else {
        sources.push_back({control->id, Source::kControl, -1});
        Need(control);
      }
    }
  }

  // A placeholder that is fed does not run; whoever waits for it waits for the feed.
  int FeedOfPlaceholder(const Node& node) const {
    if (node.op_name() != "Placeholder" && node.op_name() != "PlaceholderV2") return -1;
    auto found = feeds_.find(std::make_pair(&node, 0));
    return found == feeds_.end() ? -1 : found->second;
  }

  const Graph& graph_;
  const StepSpec& spec_;
  absl::flat_hash_map<std::pair<const Node*, int>, int> feeds_;
  absl::flat_hash_map<std::pair<const Node*, int>, Output> connected_;
  std::vector<std::vector<Source>> inputs_;
  std::vector<bool> is_needed_;
  std::vector<Node*> open_;
};

StatusOr<StepGraph> Prune(const Graph& graph, StepSpec spec) {
  Pruner pruner(graph, spec);
  RETURN_IF_ERROR(pruner.Collect());
  ASSIGN_OR_RETURN(std::vector<int> order, pruner.Order());
  StepGraph step;
  step.index_by_id_.assign(graph.nodes().size(), -1);
  for (int id : order) {
    step.index_by_id_[id] = static_cast<int>(step.nodes_.size());
    step.nodes_.push_back(graph.nodes()[id].get());
  }
  for (int id : order) {
    std::vector<StepGraph::Source> sources = pruner.inputs(id);
    for (StepGraph::Source& source : sources) {
      if (!source.is_feed()) source.node = step.index_by_id_[source.node];
    }
    step.inputs_.push_back(std::move(sources));
  }
  for (const Output& fetch : spec.fetches) step.fetches_.push_back({step.index_by_id_[fetch.node->id], fetch.index, -1});
  step.spec_ = std::move(spec);
  return step;
}

int StepGraph::IndexOf(const Node* node) const {
  size_t id = static_cast<size_t>(node->id);
  return id < index_by_id_.size() ? index_by_id_[id] : -1;
}

DataType StepGraph::dtype(const Source& source) const {
  if (source.is_control()) return kFloat;
  if (source.is_feed()) {
    const Output& feed = spec_.feeds[source.feed];
    return BaseType(feed.node->output_types[feed.index]);
  }
  return nodes_[source.node]->output_types[source.output];
}

}  // namespace tandem
