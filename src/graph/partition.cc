#include "graph/partition.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "graph/device_name.h"
#include "graph/frames.h"
#include "graph/graph_state.h"
#include "graph/transfer.h"

namespace tandem {
namespace {

using Source = StepGraph::Source;
using tensorflow::GraphDef;
using tensorflow::NodeDef;

// Identifies a giver in hash maps: a node's or a feed's output.
using GiverKey = std::pair<int, int>;
GiverKey KeyOf(const Source& source) { return {source.is_feed() ? -1 - source.feed : source.node, source.output}; }

class Partitioner {
 public:
  Partitioner(const StepGraph& step, const PartitionOptions& options, StepPhases phases)
      : step_(step), options_(options), phases_(std::move(phases)), master_task_(TaskOf(options.client_device)),
        nodes_(step.nodes().empty() ? nullptr : step.nodes()[0]->graph, options.incarnation) {
    client_.assigned_device = options.client_device;
  }

  StatusOr<StepPartitions> Run() {
    RETURN_IF_ERROR(CheckEdges());
    MakeParts();
    for (const StepPhases::Result& result : phases_.results) {
      if (result.output != Source::kControl) ResultValue(result.node, result.output);
    }
    for (int node = 0; node < static_cast<int>(step_.nodes().size()); ++node) {
      if (phases_.phase_of[node] != StepPhases::kInEach) AddNode(node, PartOf(node));
    }
    for (const auto& [part, givers] : gates_) AddGate(part, {givers.begin(), givers.end()});
    AddResults();
    AddFetches();
    return Finish();
  }

 private:
  // A graph in the making: of a task, or of one phase of a task.
  struct Part {
    int task = -1;                                             // index in phases_.tasks; -1: the master's task, if it runs no node
    int phase = StepPhases::kNotCut;
    std::shared_ptr<GraphDef> graph = std::make_shared<GraphDef>();
    absl::flat_hash_set<int> shared_nodes;                     // kInEach nodes that are in it
    absl::flat_hash_map<GiverKey, std::string> received;       // the node that stands for a giver elsewhere
    std::vector<CrossEdge> sends, recvs;
  };

  bool is_cut(int task) const { return task >= 0 && phases_.tasks[task].phase_count > 0; }
  const std::string& task_name(int task) const { return task < 0 ? master_task_ : phases_.tasks[task].name; }

  Status CheckEdges() const {
    Frames frames = FindFrames(step_);
    for (size_t node = 0; node < step_.nodes().size(); ++node) {
      const Node& n = *step_.nodes()[node];
      const std::vector<Source>& sources = step_.inputs(static_cast<int>(node));
      for (size_t i = 0; i < sources.size(); ++i) {
        const Source& source = sources[i];
        const std::string& from = source.is_feed() ? master_task_ : task_name(phases_.task_of[source.node]);
        if (from == task_name(phases_.task_of[node])) continue;
        if (!source.is_control() && i < n.input_types.size() && IsRef(n.input_types[i])) {
          return InvalidArgument("Node '", n.name(), "' on ", n.assigned_device, " needs a reference to ", GiverName(source), ", which is on ", from);
        }
        if (frames.InputFrame(static_cast<int>(node)) != Frames::kRoot) {
          return Unimplemented("The loop '", frames.name(frames.InputFrame(static_cast<int>(node))), "' spans tasks: ", n.name(), " on ", n.assigned_device, " reads ",
                               GiverName(source), " of ", from);
        }
      }
    }
    return OkStatus();
  }

  std::string GiverName(const Source& source) const {
    return source.is_feed() ? step_.spec().feeds[source.feed].node->name() : step_.nodes()[source.node]->name();
  }

  void MakeParts() {
    first_part_.resize(phases_.tasks.size());
    for (size_t task = 0; task < phases_.tasks.size(); ++task) {
      int count = std::max(1, phases_.tasks[task].phase_count);
      first_part_[task] = static_cast<int>(parts_.size());
      for (int phase = 0; phase < count; ++phase) {
        parts_.emplace_back();
        parts_.back().task = static_cast<int>(task);
        parts_.back().phase = is_cut(static_cast<int>(task)) ? phase : StepPhases::kNotCut;
      }
      if (task_name(static_cast<int>(task)) == master_task_) master_part_ = first_part_[task];
    }
    if (master_part_ < 0) {
      master_part_ = static_cast<int>(parts_.size());
      parts_.emplace_back();
    }
    phased_.resize(phases_.tasks.size());
    for (size_t task = 0; task < phases_.tasks.size(); ++task) {
      phased_[task].task = phases_.tasks[task].name;
      phased_[task].phases.resize(phases_.tasks[task].phase_count);
    }
    for (const StepPhases::Result& result : phases_.results) result_phase_.emplace(GiverKey(result.node, result.output), result.phase);
  }

  GraphDef* graph(int part) { return parts_[part].graph.get(); }
  int PartOf(int node) const { return first_part_[phases_.task_of[node]] + std::max(0, phases_.phase_of[node]); }

  // ---- nodes ----------------------------------------------------------------------------------------------------------------

  void AddNode(int node, int part) {
    const Node& n = *step_.nodes()[node];
    std::vector<std::string> inputs;
    for (const Source& source : step_.inputs(node)) {
      std::string input = InputFrom(source, n, part);
      if (!input.empty()) inputs.push_back(std::move(input));
    }
    NodeDef* def = graph(part)->add_node();
    ExportNode(n, def, /*strip_defaults=*/true);
    def->set_device(n.assigned_device);
    def->clear_input();
    for (std::string& input : inputs) def->add_input(std::move(input));
  }

  // ---- inputs ---------------------------------------------------------------------------------------------------------------

  // What stands in NodeDef.input of `reader`, a node of `part`, for this source; makes what it takes to get it there. Empty if the
  // order of phases says it already.
  std::string InputFrom(const Source& source, const Node& reader, int part) {
    if (source.is_feed()) return InputFromPart(source, master_part_, FeedNode(source.feed), source.is_control() ? Source::kControl : 0, reader, part);
    const std::string& name = step_.nodes()[source.node]->name();
    if (phases_.phase_of[source.node] == StepPhases::kInEach) {
      if (phases_.task_of[source.node] == parts_[part].task) {
        ShareNode(source.node, part);
        return InputText(name, source.output);
      }
      return InputFromPart(source, first_part_[phases_.task_of[source.node]] + result_phase_.at(KeyOf(source)), name, source.output, reader, part);
    }
    return InputFromPart(source, PartOf(source.node), name, source.output, reader, part);
  }

  // The same for output `output` of node `name` in part `from`.
  std::string InputFromPart(const Source& source, int from, const std::string& name, int output, const Node& reader, int part) {
    if (from == part) return InputText(name, output);
    int from_task = parts_[from].task, task = parts_[part].task;
    const bool is_control = source.is_control();
    if (from_task == task) return is_control ? "" : PhaseInput(source, ResultValue(source.node, source.output), part, reader.assigned_device);
    if ((is_cut(from_task) || is_cut(task)) && from != master_part_ && part != master_part_) {
      // Two other tasks meet at the master's.
      std::string there = InputFromPart(source, from, name, output, client_, master_part_);
      return InputFromPart(source, master_part_, there.substr(is_control ? 1 : 0), is_control ? Source::kControl : 0, reader, part);
    }
    if (is_cut(from_task)) return is_control ? InputText(PhaseEnd(from), Source::kControl) : ResultOnMaster(source);
    if (is_cut(task)) {
      if (!is_control) return PhaseInput(source, MasterValue(source, from, name, output, task), part, reader.assigned_device);
      gates_[part].insert(InputText(name, Source::kControl));
      return "";
    }
    return Transferred(source, from, name, output, reader.assigned_device, part);
  }

  void ShareNode(int node, int part) {
    if (parts_[part].shared_nodes.insert(node).second) AddNode(node, part);
  }

  const std::string& FeedNode(int feed) {
    std::string& name = feed_nodes_[feed];
    if (!name.empty()) return name;
    const Output& output = step_.spec().feeds[feed];
    name = absl::StrCat("_recv_", output.node->name(), "_", output.index);
    Transfer transfer{options_.client_device, options_.client_device, output.name(), true};
    nodes_.AddRecv(name, output.node->output_types[output.index], transfer, graph(master_part_));
    feed_keys_[feed] = nodes_.Key(transfer);
    return name;
  }

  // ---- between tasks that are not cut --------------------------------------------------------------------------------------------

  // One _Send for each source and target task, however many read it.
  std::string Transferred(const Source& source, int from, const std::string& name, int output, const std::string& device, int part) {
    auto [found, is_new] = parts_[part].received.emplace(KeyOf(source), "");
    if (!is_new) return InputText(found->second, source.is_control() ? Source::kControl : 0);
    DataType type = BaseType(step_.dtype(source));
    const std::string& source_device = from == master_part_ && (source.is_feed() || parts_[from].task != phases_.task_of[source.node])
                                           ? options_.client_device
                                           : step_.nodes()[source.node]->assigned_device;
    Transfer transfer{source_device, device, nodes_.NewEdgeName(name), false};
    std::string sent = source.is_control() ? nodes_.AddSignal(name, source_device, {InputText(name, Source::kControl)}, graph(from)) : InputText(name, output);
    nodes_.AddSend(nodes_.NewName(name), sent, type, transfer, graph(from));
    std::string taker = nodes_.AddRecv(nodes_.NewName(name), type, transfer, graph(part));
    if (source.is_control()) taker = nodes_.AddSignalTaker(taker, device, graph(part));
    CrossEdge edge{nodes_.Key(transfer), task_name(parts_[from].task), task_name(parts_[part].task), type};
    parts_[from].sends.push_back(edge);
    parts_[part].recvs.push_back(std::move(edge));
    parts_[part].received[KeyOf(source)] = taker;
    return InputText(taker, source.is_control() ? Source::kControl : 0);
  }

  // ---- between the master's task and phases ------------------------------------------------------------------------------------------

  // Within the rendezvous of the master's task.
  Transfer LocalTransfer(absl::string_view name) { return {options_.client_device, options_.client_device, nodes_.NewEdgeName(name), false}; }

  // Index in the task's values of what a phase of it gives.
  int ResultValue(int node, int output) {
    int task = phases_.task_of[node];
    auto [found, is_new] = values_.emplace(std::make_pair(GiverKey(node, output), task), static_cast<int>(phased_[task].values.size()));
    if (is_new) phased_[task].values.push_back({"", BaseType(step_.nodes()[node]->output_types[output]), false, false});
    return found->second;
  }

  // Index in the task's values of what the master's part gives it.
  int MasterValue(const Source& source, int from, const std::string& name, int output, int task) {
    auto [found, is_new] = values_.emplace(std::make_pair(KeyOf(source), task), static_cast<int>(phased_[task].values.size()));
    if (!is_new) return found->second;
    Transfer transfer = LocalTransfer(name);
    DataType type = BaseType(step_.dtype(source));
    nodes_.AddSend(nodes_.NewName(name), InputText(name, output), type, transfer, graph(from));
    phased_[task].values.push_back({nodes_.Key(transfer), type, true, false});
    return found->second;
  }

  // A _Recv in a phase's graph that RunGraph's `send` satisfies. Its devices are the task's own, as a worker demands of such keys.
  std::string PhaseInput(const Source& source, int value, int part, const std::string& device) {
    auto [found, is_new] = parts_[part].received.emplace(KeyOf(source), "");
    if (!is_new) return found->second;
    int task = parts_[part].task;
    Transfer transfer{device, device, nodes_.NewEdgeName(GiverName(source)), true};
    std::string name = nodes_.AddRecv(nodes_.NewName(GiverName(source)), phased_[task].values[value].dtype, transfer, graph(part));
    phased_[task].phases[parts_[part].phase].inputs.push_back({value, nodes_.Key(transfer)});
    parts_[part].received[KeyOf(source)] = name;
    return name;
  }

  // A _Recv in the master's part for what a phase gives.
  std::string ResultOnMaster(const Source& source) {
    auto [found, is_new] = parts_[master_part_].received.emplace(KeyOf(source), "");
    if (!is_new) return found->second;
    int task = phases_.task_of[source.node];
    PhasedTask::Value& value = phased_[task].values[ResultValue(source.node, source.output)];
    Transfer transfer = LocalTransfer(GiverName(source));
    value.local_key = nodes_.Key(transfer);
    std::string name = nodes_.AddRecv(nodes_.NewName(GiverName(source)), value.dtype, transfer, graph(master_part_));
    parts_[master_part_].received[KeyOf(source)] = name;
    return name;
  }

  // A node of the master's part that runs when a phase has ended.
  const std::string& PhaseEnd(int part) {
    std::string& end = phase_ends_[part];
    if (!end.empty()) return end;
    PhasedTask& phased = phased_[parts_[part].task];
    Transfer transfer = LocalTransfer(absl::StrCat("end_of_phase_", parts_[part].phase));
    std::string recv = nodes_.AddRecv(nodes_.NewName(transfer.name), kFloat, transfer, graph(master_part_));
    end = nodes_.AddSignalTaker(recv, options_.client_device, graph(master_part_));
    phased.phases[parts_[part].phase].outputs.push_back({static_cast<int>(phased.values.size()), ""});
    phased.values.push_back({nodes_.Key(transfer), kFloat, false, true});
    return end;
  }

  // What a phase waits for on the master's task without reading it: one signal for all.
  void AddGate(int part, const std::vector<std::string>& givers) {
    PhasedTask& phased = phased_[parts_[part].task];
    Transfer transfer = LocalTransfer(absl::StrCat("start_of_phase_", parts_[part].phase));
    std::string signal = nodes_.AddSignal(transfer.name, options_.client_device, givers, graph(master_part_));
    nodes_.AddSend(nodes_.NewName(transfer.name), signal, kFloat, transfer, graph(master_part_));
    phased.phases[parts_[part].phase].inputs.push_back({static_cast<int>(phased.values.size()), ""});
    phased.values.push_back({nodes_.Key(transfer), kFloat, true, true});
  }

  // The _Sends in phases that RunGraph's `recv_key` asks for.
  void AddResults() {
    for (const StepPhases::Result& result : phases_.results) {
      const Node& node = *step_.nodes()[result.node];
      int task = phases_.task_of[result.node];
      int part = first_part_[task] + result.phase;
      if (phases_.phase_of[result.node] == StepPhases::kInEach) ShareNode(result.node, part);
      if (result.output == Source::kControl) continue;  // the end of the phase says it
      Transfer transfer{node.assigned_device, node.assigned_device, nodes_.NewEdgeName(node.name()), true};
      nodes_.AddSend(nodes_.NewName(node.name()), InputText(node.name(), result.output), node.output_types[result.output], transfer, graph(part));
      phased_[task].phases[result.phase].outputs.push_back({ResultValue(result.node, result.output), nodes_.Key(transfer)});
    }
  }

  // ---- fetches and the end -----------------------------------------------------------------------------------------------------------

  void AddFetches() {
    for (size_t i = 0; i < step_.spec().fetches.size(); ++i) {
      const Output& output = step_.spec().fetches[i];
      const Source& source = step_.fetch(static_cast<int>(i));
      std::string input = InputFrom(source, client_, master_part_);
      Transfer transfer{options_.client_device, options_.client_device, output.name(), true};
      nodes_.AddSend(absl::StrCat("_send_", output.node->name(), "_", output.index), input, step_.dtype(source), transfer, graph(master_part_));
      fetch_keys_.push_back(nodes_.Key(transfer));
    }
  }

  StepPartitions Finish() {
    StepPartitions made;
    auto complete = [&](Part& part) {
      if (step_.nodes().empty()) return;
      const Graph::State& state = step_.nodes()[0]->graph->state();
      *part.graph->mutable_library() = state.library;
      part.graph->mutable_versions()->set_producer(state.producer_version != 0 ? state.producer_version : kGraphVersion);
    };
    auto add_task = [&](Part& part) {
      complete(part);
      made.tasks.push_back({task_name(part.task), part.graph, std::move(part.sends), std::move(part.recvs)});
    };
    if (parts_[master_part_].graph->node_size() > 0) add_task(parts_[master_part_]);
    for (size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      if (static_cast<int>(i) == master_part_) continue;
      if (is_cut(part.task)) {
        complete(part);
        phased_[part.task].phases[part.phase].graph = part.graph;
      } else {
        add_task(part);
      }
    }
    for (PhasedTask& phased : phased_) {
      if (!phased.phases.empty()) made.phased_tasks.push_back(std::move(phased));
    }
    made.feed_keys.resize(step_.spec().feeds.size());
    for (auto& [feed, key] : feed_keys_) made.feed_keys[feed] = std::move(key);
    made.fetch_keys = std::move(fetch_keys_);
    return made;
  }

  const StepGraph& step_;
  const PartitionOptions& options_;
  const StepPhases phases_;
  const std::string master_task_;
  TransferNodes nodes_;
  Node client_;                                                        // stands for who reads at the client's device
  std::vector<Part> parts_;
  std::vector<int> first_part_;                                        // by task
  int master_part_ = -1;
  std::vector<PhasedTask> phased_;                                     // by task; without phases if it is not cut
  absl::flat_hash_map<GiverKey, int> result_phase_;
  absl::flat_hash_map<std::pair<GiverKey, int>, int> values_;          // by giver and cut task: index in its values
  absl::flat_hash_map<int, std::string> feed_nodes_, feed_keys_;       // by feed
  std::map<int, std::string> phase_ends_;                              // by part of the phase
  std::map<int, std::set<std::string>> gates_;                         // by part of the phase: nodes of the master's part, as "^name"
  std::vector<std::string> fetch_keys_;
};

}  // namespace

StatusOr<StepPartitions> PartitionByTask(const StepGraph& step, const PartitionOptions& options) {
  PhaseOptions phases = options.phases;
  phases.master_task = TaskOf(options.client_device);
  if (!options.use_phases) phases.may_wait = [](const Node&) { return true; };
  return Partitioner(step, options, CutIntoPhases(step, phases)).Run();
}

}  // namespace tandem
