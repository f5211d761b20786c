#include "graph/phases.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "graph/device_name.h"

namespace tandem {
namespace {

constexpr int kNever = std::numeric_limits<int>::max();

// Ops whose kernels wait for another op, another step or input from outside, and ops that run a function with who knows what in it.
// In a phase, such a wait could be for something that comes only after the phase has ended.
bool MayWaitByName(const Node& node) {
  if (node.op == nullptr) return true;
  static const absl::flat_hash_set<std::string>* names = new absl::flat_hash_set<std::string>{
      "AccumulatorTakeGradient", "ResourceAccumulatorTakeGradient", "SparseAccumulatorTakeGradient", "BarrierTakeMany", "BarrierInsertMany", "Stage", "Unstage",
      "StagePeek", "MapStage", "MapUnstage", "MapUnstageNoKey", "MapPeek", "OrderedMapStage", "OrderedMapUnstage", "OrderedMapUnstageNoKey", "OrderedMapPeek",
      "MutexLock", "RecordInput", "If", "StatelessIf", "While", "StatelessWhile", "Case", "StatelessCase", "For", "PartitionedCall", "StatefulPartitionedCall",
      "RemoteCall", "SymbolicGradient", "MapDefun", "PyFunc", "PyFuncStateless", "EagerPyFunc", "_Send", "_Recv", "_HostSend", "_HostRecv"};
  const std::string& op = node.op_name();
  if (names->contains(op)) return true;
  return absl::StrContains(op, "Queue") ? absl::StrContains(op, "Enqueue") || absl::StrContains(op, "Dequeue")
                                        : absl::StartsWith(op, "Reader") || absl::StartsWith(op, "Iterator") || absl::StartsWith(op, "Collective");
}

// Where values can be dead or belong to an iteration.
bool IsControlFlow(const Node& node) {
  static const absl::flat_hash_set<std::string>* names =
      new absl::flat_hash_set<std::string>{"Switch", "RefSwitch", "_SwitchN", "Merge", "RefMerge", "_XlaMerge", "Enter", "RefEnter", "Exit", "RefExit", "NextIteration",
                                           "RefNextIteration", "LoopCond"};
  return names->contains(node.op_name());
}

// Cheap, without effect, and the same each time: variables and handles live in the task, not in the phase.
bool CanBeInEachPhase(const Node& node) {
  const std::string& op = node.op_name();
  return op == "VariableV2" || op == "Variable" || op == "VarHandleOp" || op == "Const";
}

// A vertex is a node of the step graph or, from step.nodes().size() on, the departure of a kInEach node's output towards M.
class Cutter {
 public:
  using Source = StepGraph::Source;

  Cutter(const StepGraph& step, const PhaseOptions& options) : step_(step), options_(options), node_count_(static_cast<int>(step.nodes().size())) {}

  StepPhases Run() {
    FindTasks();
    FindConsumers();
    ExcludeTasks();
    // A task that turns out not to be cut changes the levels of all others.
    do {
      FindVertices();
      SetLowestLevels();
      DelayLonelyVertices();
      MergePhases();
      NumberPhases();
    } while (ExcludeTasksThatCannotCarry());
    CollectResults();
    return std::move(phases_);
  }

 private:
  struct Edge {
    int to;      // node
    int output;  // or kControl
  };

  bool is_master(int task) const { return phases_.tasks[task].name == options_.master_task; }
  bool is_cut(int task) const { return phases_.tasks[task].why_not.empty(); }
  bool is_on_cut_task(int node) const { return is_cut(phases_.task_of[node]); }
  int task_of(int vertex) const { return vertex < node_count_ ? phases_.task_of[vertex] : phases_.task_of[departures_[vertex - node_count_].first]; }

  // Goes over the edges that matter: a back edge stays within a task that is not cut.
  template <typename Visit>
  void ForEachSource(int node, Visit visit) const {
    for (const Source& source : step_.inputs(node)) {
      if (!source.is_feed() && source.node < node) visit(source);
    }
  }

  void FindTasks() {
    absl::flat_hash_map<std::string, int> by_device, by_name;
    for (const Node* node : step_.nodes()) {
      auto [device, is_new_device] = by_device.emplace(node->assigned_device, 0);
      if (is_new_device) {
        std::string name = TaskOf(node->assigned_device);
        auto [task, is_new_task] = by_name.emplace(name, static_cast<int>(phases_.tasks.size()));
        if (is_new_task) phases_.tasks.push_back({name, 0, name == options_.master_task ? "it is the master's task" : ""});
        device->second = task->second;
      }
      phases_.task_of.push_back(device->second);
    }
  }

  void FindConsumers() {
    consumers_.resize(node_count_);
    for (int node = 0; node < node_count_; ++node) {
      ForEachSource(node, [&](const Source& source) { consumers_[source.node].push_back({node, source.output}); });
    }
    is_fetched_.resize(node_count_, false);
    for (size_t i = 0; i < step_.spec().fetches.size(); ++i) is_fetched_[step_.fetch(static_cast<int>(i)).node] = true;
  }

  void Exclude(int task, std::string why) {
    if (is_cut(task)) phases_.tasks[task].why_not = std::move(why);
  }

  void ExcludeTasks() {
    std::vector<bool> may_be_dead(node_count_, false);
    for (int node = 0; node < node_count_; ++node) {
      const Node& n = *step_.nodes()[node];
      int task = phases_.task_of[node];
      may_be_dead[node] = IsControlFlow(n);
      ForEachSource(node, [&](const Source& source) {
        if (may_be_dead[source.node]) may_be_dead[node] = true;
        int other = phases_.task_of[source.node];
        if (other == task || is_master(other) || is_master(task) || source.is_control() || IsSmall(source.node, source.output)) return;
        Exclude(task, absl::StrCat("it takes ", step_.nodes()[source.node]->name(), " from ", phases_.tasks[other].name));
        Exclude(other, absl::StrCat("it gives ", step_.nodes()[source.node]->name(), " to ", phases_.tasks[task].name));
      });
      if (may_be_dead[node]) Exclude(task, absl::StrCat(n.name(), " is in a branch or a loop"));
      if (options_.may_wait ? options_.may_wait(n) : MayWaitByName(n)) Exclude(task, absl::StrCat(n.name(), " may wait"));
    }
  }

  bool LeavesTask(int node) const {
    if (is_fetched_[node]) return true;
    return std::any_of(consumers_[node].begin(), consumers_[node].end(), [&](const Edge& edge) { return phases_.task_of[edge.to] != phases_.task_of[node]; });
  }

  void FindVertices() {
    phases_.phase_of.assign(node_count_, StepPhases::kNotCut);
    departures_.clear();
    departure_of_.assign(node_count_, -1);
    for (int node = 0; node < node_count_; ++node) {
      if (!is_on_cut_task(node)) continue;
      bool is_used = is_fetched_[node] || !consumers_[node].empty();
      if (!is_used || !step_.inputs(node).empty() || !CanBeInEachPhase(*step_.nodes()[node])) {
        phases_.phase_of[node] = 0;
        continue;
      }
      phases_.phase_of[node] = StepPhases::kInEach;
      if (!LeavesTask(node)) continue;
      departure_of_[node] = node_count_ + static_cast<int>(departures_.size());
      departures_.push_back({node, 0});
    }
    level_.assign(node_count_ + departures_.size(), 0);
  }

  // The vertex whose level decides when `to` can have the source, -1 if that is at any time.
  int Giver(int source, int to) const {
    if (phases_.phase_of[source] != StepPhases::kInEach) return source;
    return phases_.task_of[source] == phases_.task_of[to] ? -1 : departure_of_[source];
  }

  void SetLowestLevels() {
    for (int node = 0; node < node_count_; ++node) {
      ForEachSource(node, [&](const Source& source) {
        int giver = Giver(source.node, node);
        if (giver < 0) return;
        bool leaves_phase = is_on_cut_task(source.node) && phases_.task_of[source.node] != phases_.task_of[node];
        level_[node] = std::max(level_[node], level_[giver] + (leaves_phase ? 1 : 0));
      });
    }
  }

  bool IsPlaced(int node) const { return phases_.phase_of[node] >= 0; }

  // Vertices that only later phases of their own task wait for.
  void DelayLonelyVertices() {
    for (int node = node_count_ - 1; node >= 0; --node) {
      if (!IsPlaced(node) || consumers_[node].empty() || LeavesTask(node)) continue;
      int first_use = kNever;
      for (const Edge& edge : consumers_[node]) first_use = std::min(first_use, level_[edge.to]);
      level_[node] = std::max(level_[node], first_use);
    }
  }

  // The lowest level of a phase that waits for this node, by node; only for nodes that are on no cut task.
  std::vector<int> LevelsThatWait() const {
    std::vector<int> needed(node_count_, kNever);
    for (int node = node_count_ - 1; node >= 0; --node) {
      if (is_on_cut_task(node)) continue;
      for (const Edge& edge : consumers_[node]) needed[node] = std::min(needed[node], is_on_cut_task(edge.to) ? level_[edge.to] : needed[edge.to]);
    }
    return needed;
  }

  // Whether all other tasks can do with the news of this vertex after a phase of `level`.
  bool CanReturnAfter(int vertex, int level, const std::vector<int>& needed) const {
    int node = vertex < node_count_ ? vertex : departures_[vertex - node_count_].first;
    return std::all_of(consumers_[node].begin(), consumers_[node].end(), [&](const Edge& edge) {
      if (phases_.task_of[edge.to] == phases_.task_of[node]) return true;
      return (is_on_cut_task(edge.to) ? level_[edge.to] : needed[edge.to]) > level;
    });
  }

  std::vector<std::vector<int>> VerticesByTask() const {
    std::vector<std::vector<int>> vertices(phases_.tasks.size());
    for (int vertex = 0; vertex < static_cast<int>(level_.size()); ++vertex) {
      if (vertex >= node_count_ || IsPlaced(vertex)) vertices[task_of(vertex)].push_back(vertex);
    }
    return vertices;
  }

  // Moves all vertices of one level to the next level that their task uses anyway. This never raises the lowest level of
  // another vertex, and only gives nodes elsewhere more time: what fits stays fitting.
  void MergePhases() {
    std::vector<std::vector<int>> vertices = VerticesByTask();
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (const std::vector<int>& of_task : vertices) {
        std::map<int, std::vector<int>> by_level;
        for (int vertex : of_task) by_level[level_[vertex]].push_back(vertex);
        if (by_level.size() > 1 && MergeLevels(by_level)) has_changed = true;
      }
    }
  }

  // The same for one task, from its last level down. A merge only raises what LevelsThatWait() says, so the old answer stays safe.
  bool MergeLevels(const std::map<int, std::vector<int>>& by_level) {
    bool has_changed = false;
    std::vector<int> needed = LevelsThatWait();
    int next_level = by_level.rbegin()->first;
    for (auto entry = std::next(by_level.rbegin()); entry != by_level.rend(); ++entry) {
      const auto& [level, of_level] = *entry;
      if (!std::all_of(of_level.begin(), of_level.end(), [&](int vertex) { return CanReturnAfter(vertex, next_level, needed); })) {
        next_level = level;
        continue;
      }
      for (int vertex : of_level) level_[vertex] = next_level;
      has_changed = true;
    }
    return has_changed;
  }

  void NumberPhases() {
    std::vector<std::vector<int>> vertices = VerticesByTask();
    for (size_t task = 0; task < vertices.size(); ++task) {
      std::vector<int> levels;
      for (int vertex : vertices[task]) levels.push_back(level_[vertex]);
      std::sort(levels.begin(), levels.end());
      levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
      phases_.tasks[task].phase_count = static_cast<int>(levels.size());
      for (int vertex : vertices[task]) {
        int phase = static_cast<int>(std::lower_bound(levels.begin(), levels.end(), level_[vertex]) - levels.begin());
        (vertex < node_count_ ? phases_.phase_of[vertex] : departures_[vertex - node_count_].second) = phase;
      }
    }
  }

  // Whether the size of a value is known, and no reason not to send it around.
  bool IsSmall(int node, int output) const {
    const Node& n = *step_.nodes()[node];
    DataType type = n.output_types[output];
    if (!IsPlainData(type) && BaseType(type) != kString && !IsRef(type)) return false;
    if (output >= static_cast<int>(n.output_shapes.size()) || !n.output_shapes[output].is_fully_known()) return false;
    int64_t size = static_cast<int64_t>(std::max<size_t>(1, DataTypeSize(BaseType(type))));
    return n.output_shapes[output].num_elements() <= options_.max_carried_bytes / size;
  }

  // Whether a value may be given to M and back for a later phase. A reference may not: it would be another variable there.
  bool CanCarry(int node, int output) const {
    DataType type = step_.nodes()[node]->output_types[output];
    if (IsRef(type) || type == kResource || type == kVariant) return false;
    for (const Edge& edge : consumers_[node]) {
      if (edge.output == output && phases_.task_of[edge.to] != phases_.task_of[node]) return true;  // it travels anyway
    }
    return IsSmall(node, output);
  }

  template <typename Visit>
  void ForEachCarried(Visit visit) {
    for (int node = 0; node < node_count_; ++node) {
      if (!IsPlaced(node)) continue;
      for (const Edge& edge : consumers_[node]) {
        bool is_carried = edge.output != Source::kControl && phases_.task_of[edge.to] == phases_.task_of[node] && phases_.phase_of[edge.to] > phases_.phase_of[node];
        if (is_carried) visit(node, edge.output);
      }
    }
  }

  bool ExcludeTasksThatCannotCarry() {
    bool has_changed = false;
    ForEachCarried([&](int node, int output) {
      if (!is_on_cut_task(node) || CanCarry(node, output)) return;
      Exclude(phases_.task_of[node], absl::StrCat("a later phase needs ", step_.nodes()[node]->name(), ":", output));
      has_changed = true;
    });
    return has_changed;
  }

  void CollectResults() {
    absl::flat_hash_set<std::pair<int, int>> seen;
    auto add = [&](int node, int output) {
      if (!is_on_cut_task(node) || !seen.emplace(node, output).second) return;
      int phase = IsPlaced(node) ? phases_.phase_of[node] : departures_[departure_of_[node] - node_count_].second;
      phases_.results.push_back({node, output, phase});
    };
    for (int node = 0; node < node_count_; ++node) {
      for (const Edge& edge : consumers_[node]) {
        if (phases_.task_of[edge.to] != phases_.task_of[node]) add(node, edge.output);
      }
    }
    for (size_t i = 0; i < step_.spec().fetches.size(); ++i) add(step_.fetch(static_cast<int>(i)).node, step_.fetch(static_cast<int>(i)).output);
    ForEachCarried(add);
  }

  const StepGraph& step_;
  const PhaseOptions& options_;
  const int node_count_;
  StepPhases phases_;
  std::vector<std::vector<Edge>> consumers_;       // by node
  std::vector<bool> is_fetched_;                   // by node
  std::vector<std::pair<int, int>> departures_;    // the kInEach node and its phase, of each vertex behind the nodes
  std::vector<int> departure_of_;                  // vertex, by node; -1
  std::vector<int> level_;                         // by vertex
};

}  // namespace

StepPhases CutIntoPhases(const StepGraph& step, const PhaseOptions& options) { return Cutter(step, options).Run(); }

}  // namespace tandem
