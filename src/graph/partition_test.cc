#include "graph/partition.h"

#include <map>
#include <random>
#include <set>

#include "graph/place.h"
#include "graph/test_graph.h"
#include "kernel/rendezvous.h"

namespace tandem {
namespace {

// ---- what a step computes, in words ---------------------------------------------------------------------------------------------

// The value of an output is the text "node:0(inputs)"; a step is right if its fetches read the same as without partitions.
struct Execution {
  std::map<std::string, std::string> fetched;  // by "_send_<node>_<index>"
  std::map<std::string, int> runs;             // of each node
  std::map<std::string, int> last_run;         // when
  int clock = 0;
};

std::string ExpectedValue(const StepGraph& step, const StepGraph::Source& source) {
  if (source.is_feed()) return absl::StrCat("feed", source.feed);
  std::vector<std::string> inputs;
  for (const StepGraph::Source& input : step.inputs(source.node)) {
    if (!input.is_control()) inputs.push_back(ExpectedValue(step, input));
  }
  return absl::StrCat(step.nodes()[source.node]->name(), ":", source.output, "(", absl::StrJoin(inputs, ","), ")");
}

std::string KeyOf(const tensorflow::NodeDef& node) {
  const auto& attr = node.attr();
  return EdgeKey::Make(attr.at("send_device").s(), static_cast<uint64_t>(attr.at("send_device_incarnation").i()), attr.at("recv_device").s(), attr.at("tensor_name").s()).full;
}

// Runs one graph as far as values allow.
class GraphRun {
 public:
  GraphRun(const tensorflow::GraphDef& graph, Execution* execution) : execution_(execution) {
    for (const tensorflow::NodeDef& node : graph.node()) waiting_.push_back(&node);
  }

  // True if a node ran. `rendezvous` is what _Send fills and _Recv empties; each key is sent once.
  bool Advance(std::map<std::string, std::string>* rendezvous, std::set<std::string>* sent) {
    bool has_run = false;
    std::vector<const tensorflow::NodeDef*> left;
    for (const tensorflow::NodeDef* node : waiting_) {
      (TryRun(*node, rendezvous, sent) ? has_run = true : (left.push_back(node), false));
    }
    waiting_ = std::move(left);
    return has_run;
  }
  bool is_done() const { return waiting_.empty(); }
  std::string waiting() const {
    return absl::StrJoin(waiting_, "\n", [](std::string* out, const tensorflow::NodeDef* node) { absl::StrAppend(out, Describe(*node)); });
  }

 private:
  bool TryRun(const tensorflow::NodeDef& node, std::map<std::string, std::string>* rendezvous, std::set<std::string>* sent) {
    std::vector<std::string> inputs;
    for (const std::string& input : node.input()) {
      std::pair<std::string, std::string> name = absl::StrSplit(input, absl::MaxSplits(':', 1));
      bool is_control = name.first[0] == '^';
      auto found = values_.find(is_control ? name.first.substr(1) : name.first);
      if (found == values_.end()) return false;
      if (!is_control) inputs.push_back(absl::StrReplaceAll(found->second, {{"%", name.second.empty() ? "0" : name.second}}));
    }
    if (node.op() == "_Recv") {
      auto found = rendezvous->find(KeyOf(node));
      if (found == rendezvous->end()) return false;
      values_[node.name()] = found->second;
      rendezvous->erase(found);
      return true;
    }
    if (node.op() == "_Send") {
      EXPECT_TRUE(sent->insert(KeyOf(node)).second) << "sent twice: " << KeyOf(node);
      (*rendezvous)[KeyOf(node)] = inputs.at(0);
      if (absl::StartsWith(node.name(), "_send_")) execution_->fetched[node.name()] = inputs.at(0);
      values_[node.name()] = "";
      return true;
    }
    ++execution_->runs[node.name()];
    execution_->last_run[node.name()] = ++execution_->clock;
    values_[node.name()] = absl::StrCat(node.name(), ":%(", absl::StrJoin(inputs, ","), ")");
    return true;
  }

  Execution* execution_;
  std::vector<const tensorflow::NodeDef*> waiting_;
  std::map<std::string, std::string> values_;
};

// Plays master and workers: graphs by dataflow over one rendezvous, phases one by one with their inputs in hand. Fails if they block.
Execution Simulate(const StepPartitions& parts) {
  Execution execution;
  std::map<std::string, std::string> rendezvous;
  std::set<std::string> sent;
  for (size_t i = 0; i < parts.feed_keys.size(); ++i) {
    if (!parts.feed_keys[i].empty()) rendezvous[parts.feed_keys[i]] = absl::StrCat("feed", i);
  }
  std::vector<GraphRun> runs;
  for (const TaskPartition& task : parts.tasks) runs.emplace_back(*task.graph, &execution);
  std::vector<size_t> next_phase(parts.phased_tasks.size(), 0);
  std::vector<std::map<int, std::string>> values(parts.phased_tasks.size());
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (GraphRun& run : runs) has_changed = run.Advance(&rendezvous, &sent) || has_changed;
    for (size_t t = 0; t < parts.phased_tasks.size(); ++t) {
      const PhasedTask& task = parts.phased_tasks[t];
      if (next_phase[t] == task.phases.size()) continue;
      const PhasedTask::Phase& phase = task.phases[next_phase[t]];
      bool is_ready = true;
      for (const PhasedTask::Port& input : phase.inputs) {
        const PhasedTask::Value& value = task.values[input.value];
        auto found = rendezvous.find(value.local_key);
        if (value.is_from_master && found != rendezvous.end()) {
          values[t][input.value] = found->second;
          rendezvous.erase(found);
        }
        is_ready = is_ready && values[t].contains(input.value);
      }
      if (!is_ready) continue;
      std::map<std::string, std::string> inside;
      for (const PhasedTask::Port& input : phase.inputs) {
        if (!input.key.empty()) inside[input.key] = values[t].at(input.value);
      }
      GraphRun run(*phase.graph, &execution);
      std::set<std::string> sent_inside;
      while (run.Advance(&inside, &sent_inside)) {
      }
      EXPECT_TRUE(run.is_done()) << "phase " << next_phase[t] << " of " << task.task << " waits for:\n" << run.waiting();
      for (const PhasedTask::Port& output : phase.outputs) {
        const PhasedTask::Value& value = task.values[output.value];
        values[t][output.value] = output.key.empty() ? "" : inside.at(output.key);
        if (!value.local_key.empty()) rendezvous[value.local_key] = values[t][output.value];
      }
      ++next_phase[t];
      has_changed = true;
    }
  }
  for (const GraphRun& run : runs) EXPECT_TRUE(run.is_done()) << "blocked:\n" << run.waiting();
  for (size_t t = 0; t < next_phase.size(); ++t) EXPECT_EQ(next_phase[t], parts.phased_tasks[t].phases.size()) << parts.phased_tasks[t].task;
  return execution;
}

// ---- from a text to partitions -----------------------------------------------------------------------------------------------

struct Case {
  std::unique_ptr<Graph> graph;
  StepGraph step;
  StepPartitions parts;
};

Case Partition(std::unique_ptr<Graph> graph, std::vector<std::string> feeds, std::vector<std::string> fetches, std::vector<std::string> targets, bool use_phases) {
  Case made;
  made.graph = std::move(graph);
  PlacementOptions placement;
  for (const char* task : {"worker:0", "ps:0", "ps:1"}) placement.devices.push_back({LongDevice(task), "CPU"});
  placement.master_task = "/job:worker/replica:0/task:0";
  EXPECT_TRUE(PlaceGraph(placement, made.graph.get()).empty());
  StatusOr<StepSpec> spec = ResolveStep(*made.graph, feeds, fetches, targets);
  EXPECT_TRUE(spec.ok()) << spec.status();
  StatusOr<StepGraph> step = Prune(*made.graph, *spec);
  EXPECT_TRUE(step.ok()) << step.status();
  made.step = *std::move(step);
  PartitionOptions options;
  options.client_device = LongDevice("worker:0");
  options.incarnation = [](const std::string& device) { return device.size(); };
  options.use_phases = use_phases;
  options.phases.may_wait = [](const Node& node) { return absl::StartsWith(node.name(), "wait"); };
  StatusOr<StepPartitions> parts = PartitionByTask(made.step, options);
  EXPECT_TRUE(parts.ok()) << parts.status();
  if (parts.ok()) made.parts = *std::move(parts);
  return made;
}

// Every node runs once (those without inputs perhaps in several phases), after its inputs, and fetches have the right values.
void CheckExecution(const Case& c) {
  Execution execution = Simulate(c.parts);
  const StepGraph& step = c.step;
  for (size_t i = 0; i < step.spec().fetches.size(); ++i) {
    const Output& fetch = step.spec().fetches[i];
    EXPECT_EQ(execution.fetched[absl::StrCat("_send_", fetch.node->name(), "_", fetch.index)], ExpectedValue(step, step.fetch(static_cast<int>(i))));
  }
  for (int node = 0; node < static_cast<int>(step.nodes().size()); ++node) {
    const std::string& name = step.nodes()[node]->name();
    EXPECT_GE(execution.runs[name], 1) << name;
    EXPECT_LE(execution.runs[name], step.inputs(node).empty() ? 1000 : 1) << name;
    for (const StepGraph::Source& source : step.inputs(node)) {
      if (source.is_feed() || step.inputs(source.node).empty()) continue;
      EXPECT_LT(execution.last_run[step.nodes()[source.node]->name()], execution.last_run[name]) << step.nodes()[source.node]->name() << " before " << name;
    }
  }
}

// "ps:0=2 ps:1=standard": how many phases each remote task has.
std::string PhaseCounts(const StepPartitions& parts) {
  std::map<std::string, std::string> counts;
  for (const TaskPartition& task : parts.tasks) counts[ShortDevice(task.task)] = "standard";
  for (const PhasedTask& task : parts.phased_tasks) counts[ShortDevice(task.task)] = absl::StrCat(task.phases.size());
  counts.erase("worker:0");
  return absl::StrJoin(counts, " ", absl::PairFormatter("="));
}

// Partitions both ways, checks that both compute the right thing, and gives the number of phases.
std::string Phases(absl::string_view text, std::vector<std::string> feeds, std::vector<std::string> fetches, std::vector<std::string> targets = {}) {
  CheckExecution(Partition(GraphOf(text), feeds, fetches, targets, false));
  Case phased = Partition(GraphOf(text), feeds, fetches, targets, true);
  CheckExecution(phased);
  return PhaseCounts(phased.parts);
}

// Linear regression as the classic script has it: w, b and the step on one ps.
constexpr char kRegression[] = R"(
x = Placeholder
w = VariableV2 @ps:0
b = VariableV2 @ps:0
step = VariableV2 @ps:0
w/read = Identity(w) loc:w
b/read = Identity(b) loc:b
z = Pack(x, w/read, b/read)
grad_w = Identity(z)
grad_b = Identity(z)
update_w = Assign(w, grad_w) loc:w
update_b = Assign(b, grad_b) loc:b
one = Const(^update_w, ^update_b) loc:step
train = AssignAdd(step, one) loc:step
)";

// ---- the standard protocol -----------------------------------------------------------------------------------------------------

TEST(Partition, OneSendForAllReadersOfATask) {
  Case c = Partition(GraphOf("w = VariableV2 @ps:0\nr = Identity(w) @ps:0\na = Identity(r)\nb = Pack(a, r)"), {}, {"b:0"}, {}, false);
  ASSERT_EQ(c.parts.tasks.size(), 2u);
  EXPECT_EQ(Describe(*c.parts.tasks[0].graph),
            "r_S1 = _Recv[edge_0_r ps:0>worker:0] @worker:0\n"
            "a = Identity(r_S1) @worker:0\n"
            "b = Pack(a, r_S1) @worker:0\n"
            "_send_b_0 = _Send[b:0 worker:0>worker:0 client](b) @worker:0");
  EXPECT_EQ(Describe(*c.parts.tasks[1].graph), "w = VariableV2 @ps:0\nr = Identity(w) @ps:0\nr_S0 = _Send[edge_0_r ps:0>worker:0](r) @ps:0");
  ASSERT_EQ(c.parts.tasks[0].recvs.size(), 1u);
  EXPECT_EQ(c.parts.tasks[0].recvs[0].key, "/job:ps/replica:0/task:0/device:CPU:0;0000000000000025;/job:worker/replica:0/task:0/device:CPU:0;edge_0_r;0:0");
  EXPECT_EQ(c.parts.tasks[1].sends[0].key, c.parts.tasks[0].recvs[0].key);
}

TEST(Partition, ControlEdgesCarryAnEmptyTensor) {
  Case c = Partition(GraphOf("a = Placeholder @ps:0\ni = Identity(a) @ps:0\nb = Const(^i) @worker:0\nd = NoOp(^i) @worker:0"), {}, {"b:0"}, {"d"}, false);
  EXPECT_EQ(Describe(*c.parts.tasks[0].graph),
            "i_S2 = _Recv[edge_0_i ps:0>worker:0] @worker:0\n"
            "i_S2_S3 = Identity(i_S2) @worker:0\n"
            "b = Const(^i_S2_S3) @worker:0\n"
            "d = NoOp(^i_S2_S3) @worker:0\n"
            "_send_b_0 = _Send[b:0 worker:0>worker:0 client](b) @worker:0");
  EXPECT_EQ(Describe(*c.parts.tasks[1].graph), "a = Placeholder @ps:0\ni = Identity(a) @ps:0\ni_S0 = Const(^i) @ps:0\ni_S1 = _Send[edge_0_i ps:0>worker:0](i_S0) @ps:0");
}

TEST(Partition, FeedsComeInAtTheClientsDevice) {
  Case c = Partition(GraphOf("x = Placeholder @ps:0\ny = Identity(x) @ps:0"), {"x:0"}, {"y:0"}, {}, false);
  EXPECT_EQ(Describe(*c.parts.tasks[0].graph),
            "_recv_x_0 = _Recv[x:0 worker:0>worker:0 client] @worker:0\n"
            "_recv_x_0_S0 = _Send[edge_0__recv_x_0 worker:0>ps:0](_recv_x_0) @worker:0\n"
            "y_S3 = _Recv[edge_1_y ps:0>worker:0] @worker:0\n"
            "_send_y_0 = _Send[y:0 worker:0>worker:0 client](y_S3) @worker:0");
  EXPECT_EQ(c.parts.feed_keys[0], "/job:worker/replica:0/task:0/device:CPU:0;0000000000000029;/job:worker/replica:0/task:0/device:CPU:0;x:0;0:0");
  EXPECT_EQ(c.parts.fetch_keys[0], "/job:worker/replica:0/task:0/device:CPU:0;0000000000000029;/job:worker/replica:0/task:0/device:CPU:0;y:0;0:0");
}

TEST(Partition, AFeedThatNobodyNeedsHasNoKey) {
  Case c = Partition(GraphOf("x = Placeholder\nk = Const"), {"x:0"}, {"k:0"}, {}, false);
  EXPECT_EQ(c.parts.feed_keys[0], "");
}

TEST(Partition, ReferencesAreCopiedOnTheWay) {
  Case c = Partition(GraphOf("w = VariableV2 @ps:0\ni = Identity(w) @worker:0"), {}, {"i:0"}, {}, false);
  EXPECT_EQ(c.parts.tasks[1].graph->node(1).attr().at("T").type(), tensorflow::DT_FLOAT);
}

TEST(Partition, ATaskWithoutPartGetsNoGraph) {
  Case c = Partition(GraphOf("w = VariableV2 @ps:0\nk = Const @ps:0\nset = Assign(w, k)"), {}, {}, {"set"}, false);
  ASSERT_EQ(c.parts.tasks.size(), 1u);
  EXPECT_EQ(c.parts.tasks[0].task, "/job:ps/replica:0/task:0");
}

TEST(Partition, ColocationAndRequestsStay) {
  Case c = Partition(GraphOf("w = VariableV2 @/job:ps/task:0\nr = Identity(w) loc:w"), {}, {"r:0"}, {}, false);
  const tensorflow::NodeDef& read = c.parts.tasks[1].graph->node(1);
  EXPECT_EQ(read.device(), LongDevice("ps:0"));
  EXPECT_EQ(read.attr().at("_class").list().s(0), "loc:@w");
}

TEST(Partition, RegressionByTheStandardProtocol) {
  Case c = Partition(GraphOf(kRegression), {"x:0"}, {"z:0"}, {"train"}, false);
  CheckExecution(c);
  EXPECT_EQ(c.parts.tasks[0].recvs.size(), 2u);
  EXPECT_EQ(c.parts.tasks[0].sends.size(), 2u);
}

// ---- phases --------------------------------------------------------------------------------------------------------------------

TEST(Phases, RegressionTakesTwoCalls) {
  EXPECT_EQ(Phases(kRegression, {"x:0"}, {"z:0"}, {"train"}), "ps:0=2");
  Case c = Partition(GraphOf(kRegression), {"x:0"}, {"z:0", "step:0"}, {"train"}, true);
  const PhasedTask& ps = c.parts.phased_tasks[0];
  EXPECT_EQ(Describe(*ps.phases[0].graph),
            "w = VariableV2 @ps:0\nw/read = Identity(w) @ps:0\nb = VariableV2 @ps:0\nb/read = Identity(b) @ps:0\n"
            "w/read_S6 = _Send[edge_6_w/read ps:0>ps:0 client](w/read) @ps:0\n"
            "b/read_S7 = _Send[edge_7_b/read ps:0>ps:0 client](b/read) @ps:0\n"
            "step = VariableV2 @ps:0\nstep_S8 = _Send[edge_8_step ps:0>ps:0 client](step) @ps:0");
  EXPECT_EQ(ps.phases[0].inputs.size(), 0u);
  EXPECT_EQ(Describe(*c.parts.tasks[0].graph),
            "_recv_x_0 = _Recv[x:0 worker:0>worker:0 client] @worker:0\n"
            "w/read_S0 = _Recv[edge_0_w/read worker:0>worker:0] @worker:0\n"
            "b/read_S1 = _Recv[edge_1_b/read worker:0>worker:0] @worker:0\n"
            "z = Pack(_recv_x_0, w/read_S0, b/read_S1) @worker:0\n"
            "grad_w = Identity(z) @worker:0\n"
            "grad_b = Identity(z) @worker:0\n"
            "grad_w_S2 = _Send[edge_2_grad_w worker:0>worker:0](grad_w) @worker:0\n"
            "grad_b_S4 = _Send[edge_4_grad_b worker:0>worker:0](grad_b) @worker:0\n"
            "_send_z_0 = _Send[z:0 worker:0>worker:0 client](z) @worker:0\n"
            "step_S9 = _Recv[edge_9_step worker:0>worker:0] @worker:0\n"
            "_send_step_0 = _Send[step:0 worker:0>worker:0 client](step_S9) @worker:0");
  EXPECT_EQ(ps.phases[0].outputs.size(), 3u);
  EXPECT_EQ(ps.phases[1].inputs.size(), 2u);
  EXPECT_EQ(ps.phases[1].outputs.size(), 0u);
}

TEST(Phases, TwoPsTakeTwoCallsEachAndOneForTheStep) {
  EXPECT_EQ(Phases(R"(
x = Placeholder
w = VariableV2 @ps:0
b = VariableV2 @ps:1
step = VariableV2 @ps:0
w/read = Identity(w) loc:w
b/read = Identity(b) loc:b
z = Pack(x, w/read, b/read)
update_w = Assign(w, z) loc:w
update_b = Assign(b, z) loc:b
update = NoOp(^update_w, ^update_b)
one = Const(^update) loc:step
train = AssignAdd(step, one) loc:step
)",
                   {"x:0"}, {"z:0"}, {"train"}),
            "ps:0=3 ps:1=2");
}

TEST(Phases, WorkThatNobodyWaitsForJoinsALaterCall) {
  // ps:0 could read s at once and update w later; but nobody waits for s.
  EXPECT_EQ(Phases(R"(
s = VariableV2 @ps:0
w = VariableV2 @ps:0
v = VariableV2 @ps:1
v/read = Identity(v) loc:v
g = Identity(v/read)
set = Assign(w, g) loc:w
)",
                   {}, {"s:0"}, {"set"}),
            "ps:0=1 ps:1=1");
}

TEST(Phases, PingPong) {
  std::string text = "m0 = Placeholder\nv = VariableV2 @ps:0\n";
  for (int i = 0; i < 5; ++i) absl::StrAppend(&text, "t", i, " = Pack(m", i, ", v) @ps:0\nm", i + 1, " = Identity(t", i, ")\n");
  EXPECT_EQ(Phases(text, {"m0:0"}, {"m5:0"}), "ps:0=5");
}

TEST(Phases, CrossedDependenciesDoNotBlock) {
  // Each ps gives a value that the other one's second node needs: one phase per ps would wait for the other.
  EXPECT_EQ(Phases(R"(
x = Placeholder
a1 = Identity(x) @ps:0
b1 = Identity(x) @ps:1
ma = Identity(a1)
mb = Identity(b1)
a2 = Identity(mb) @ps:0
b2 = Identity(ma) @ps:1
)",
                   {"x:0"}, {"a2:0", "b2:0"}),
            "ps:0=2 ps:1=2");
}

TEST(Phases, DiamondOverThreeTasks) {
  EXPECT_EQ(Phases("x = Placeholder\nl = Identity(x) @ps:0\nr = Identity(x) @ps:1\nm = Pack(l, r)\nd = Pack(m, x) @ps:0", {"x:0"}, {"d:0"}), "ps:0=2 ps:1=1");
}

TEST(Phases, ControlEdgesBothWays) {
  EXPECT_EQ(Phases(R"(
x = Placeholder
t0 = Identity(x) @ps:0
m0 = Const(^t0) @worker:0
m1 = Const(^t0) @worker:0
t1 = NoOp(^m0, ^m1) @ps:0
t2 = Identity(x, ^t1, ^m1) @ps:0
)",
                   {"x:0"}, {"t2:0", "m0:0"}),
            "ps:0=2");
}

TEST(Phases, ValuesOfAnEarlierPhaseGoThroughTheMaster) {
  EXPECT_EQ(Phases("x = Placeholder\nt = Identity(x) @ps:0\nm = Identity(t)\nu = Pack(m, t) @ps:0", {"x:0"}, {"u:0"}), "ps:0=2");
}

TEST(Phases, ValuesThatOnlyTheTaskNeedsAreNotSentAround) {
  // t is needed in both phases, its size is not known, and the master has no use for it.
  EXPECT_EQ(Phases("x = Placeholder\nt = Identity(x) @ps:0\na = Identity(t) @ps:0\nm = Identity(a)\nu = Pack(m, t) @ps:0", {"x:0"}, {"u:0"}), "ps:0=standard");
}

TEST(Phases, ReadsForLaterAreDoneLater) {
  EXPECT_EQ(Phases("x = Placeholder\nv = VariableV2 @ps:0\nr = Identity(v) @ps:0\nt = Identity(x) @ps:0\nm = Identity(t)\nu = Pack(m, r) @ps:0", {"x:0"}, {"u:0"}), "ps:0=2");
}

TEST(Phases, EdgesBetweenPsFallBack) {
  EXPECT_EQ(Phases("x = Placeholder\na = Identity(x) @ps:0\nb = Identity(a) @ps:1\nm = Identity(b)", {"x:0"}, {"m:0"}), "ps:0=standard ps:1=standard");
}

TEST(Phases, SmallValuesBetweenPsGoThroughTheMaster) {
  // As Adam's beta1_power does: a scalar of ps:0 that updates on ps:1 read.
  EXPECT_EQ(Phases(R"(
x = Placeholder
beta = VariableV2 @ps:0
w = VariableV2 @ps:1
w/read = Identity(w) loc:w
g = Pack(w/read, x)
update = Assign(w, g, ^beta/read) loc:w
beta/read = Identity(beta) loc:beta
beta/next = Assign(beta, beta/read, ^update) loc:beta
)",
                   {"x:0"}, {"g:0"}, {"beta/next"}),
            "ps:0=2 ps:1=2");
}

TEST(Phases, ControlEdgesBetweenPsGoThroughTheMaster) {
  EXPECT_EQ(Phases("x = Placeholder\na = Identity(x) @ps:0\nb = Identity(x, ^a) @ps:1\nc = Identity(x, ^b) @ps:0", {"x:0"}, {"c:0"}), "ps:0=2 ps:1=1");
  EXPECT_EQ(Phases("x = Placeholder\nwait = Identity(x) @ps:0\nb = Identity(x, ^wait) @ps:1\nc = Identity(x, ^b) @ps:0", {"x:0"}, {"c:0"}), "ps:0=standard ps:1=1");
}

TEST(Phases, TasksThatMayWaitFallBackAlone) {
  EXPECT_EQ(Phases("x = Placeholder\nwait = Identity(x) @ps:0\nb = Identity(x) @ps:1\nm = Pack(wait, b)\nc = Identity(m) @ps:1", {"x:0"}, {"c:0"}), "ps:0=standard ps:1=2");
}

TEST(Phases, FetchesOfVariablesAndConstants) {
  EXPECT_EQ(Phases("v = VariableV2 @ps:0\nk = Const @ps:0\nset = Assign(v, k) @ps:0", {}, {"v:0", "k:0", "set:0"}), "ps:0=1");
  EXPECT_EQ(Phases("v = VariableV2 @ps:0", {}, {}, {"v"}), "ps:0=1");
}

TEST(Phases, FeedsOfSeveralPhases) {
  EXPECT_EQ(Phases("x = Placeholder @ps:0\na = Identity(x) @ps:0\nm = Identity(a)\nb = Pack(m, x) @ps:0", {"x:0"}, {"b:0"}), "ps:0=2");
}

// Any graph at all: edges go from earlier to later nodes, between all tasks or only to and from the worker.
TEST(Phases, RandomGraphs) {
  std::mt19937 random(7);
  auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int cut = 0;
  for (int trial = 0; trial < 400; ++trial) {
    int count = 2 + below(30);
    bool is_star = below(4) != 0;
    std::string text = "x = Placeholder\n";
    std::vector<int> tasks;
    std::vector<std::string> fetches, targets;
    for (int i = 0; i < count; ++i) {
      int task = below(3);
      std::vector<std::string> inputs, controls;
      for (int j = 0; j < 1 + below(3); ++j) {
        int from = below(i + 1) - 1;
        bool crosses_ps = from >= 0 && tasks[from] != task && tasks[from] != 0 && task != 0;
        if (is_star && crosses_ps) continue;
        std::string name = from < 0 ? "x" : absl::StrCat("n", from);
        if (from >= 0 && below(3) == 0) {
          controls.push_back("^" + name);
        } else {
          inputs.push_back(name);
        }
      }
      const char* op = !inputs.empty() ? "Pack" : controls.empty() && below(2) == 0 ? "VariableV2" : "Const";
      inputs.insert(inputs.end(), controls.begin(), controls.end());
      absl::StrAppend(&text, "n", i, " = ", op, "(", absl::StrJoin(inputs, ", "), ") @", std::vector<std::string>{"worker:0", "ps:0", "ps:1"}[task], "\n");
      tasks.push_back(task);
      if (below(4) == 0) fetches.push_back(absl::StrCat("n", i, ":0"));
      if (below(4) == 0) targets.push_back(absl::StrCat("n", i));
    }
    targets.push_back(absl::StrCat("n", count - 1));
    if (Phases(text, {"x:0"}, fetches, targets).find('=') != std::string::npos) ++cut;
    ASSERT_FALSE(HasFailure()) << text << "fetches " << absl::StrJoin(fetches, " ") << " targets " << absl::StrJoin(targets, " ");
  }
  EXPECT_GT(cut, 100);
}

}  // namespace
}  // namespace tandem
