// Scopes that only the client layer needs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "graph/graph_state.h"

namespace tandem {

// While alive, new nodes are called "<node>/…" exactly: the place for what belongs to `node`.
class NamesUnder {
 public:
  NamesUnder(Graph& graph, const std::string& node) : graph_(graph), saved_(graph.state().name_prefix) { graph.state().name_prefix = node + "/"; }
  ~NamesUnder() { graph_.state().name_prefix = saved_; }
  NamesUnder(const NamesUnder&) = delete;

 private:
  Graph& graph_;
  std::string saved_;
};

// While alive, new nodes are named from the root, whatever name scopes surround them.
class RootNames {
 public:
  explicit RootNames(Graph& graph) : graph_(graph), saved_(std::exchange(graph.state().name_prefix, "")) {}
  ~RootNames() { graph_.state().name_prefix = saved_; }
  RootNames(const RootNames&) = delete;

 private:
  Graph& graph_;
  std::string saved_;
};

// While alive, new nodes have none of the surrounding control dependencies: for what is made once but used in every step.
class NoControlDependencies {
 public:
  explicit NoControlDependencies(Graph& graph) : graph_(graph), saved_(std::exchange(graph.state().control_scopes, {})) {}
  ~NoControlDependencies() { graph_.state().control_scopes = std::move(saved_); }
  NoControlDependencies(const NoControlDependencies&) = delete;

 private:
  Graph& graph_;
  std::vector<std::vector<Operation>> saved_;
};

}  // namespace tandem
