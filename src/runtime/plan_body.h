// Inside a Plan: what Plan::Make builds (plan_make.cc) and Plan::RunAsync runs (plan.cc).
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "runtime/plan.h"

namespace tandem {

// A ref edge into a value input: the variable's current value is put into a slot of the consumer's own before it runs.
struct Dereference {
  int32_t ref_slot;
  int32_t value_slot;
};

struct PlanNode {
  NodeInfo info;
  std::shared_ptr<Kernel> kernel;
  AsyncKernel* async = nullptr;            // the same kernel, if it waits
  int32_t async_index = -1;
  std::vector<Dereference> dereferences;
  std::vector<int32_t> checked_refs;       // ref inputs that must be initialised
  std::vector<int32_t> freed_slots;        // values that nobody reads after this node
  std::string label;                       // for traces
};

// Nodes [begin, end) of the plan, which wait for the same asynchronous nodes; or one asynchronous node.
struct Segment {
  int32_t begin = 0, end = 0;
  int32_t predecessors = 0;
  std::vector<int32_t> successors;
  bool is_async = false;
};

struct Plan::Body {
  Body();
  ~Body();

  std::vector<PlanNode> nodes;
  std::vector<Segment> segments;
  std::vector<int32_t> roots;              // segments without predecessors, asynchronous ones first
  int32_t slot_count = 0;
  int32_t async_count = 0;
  bool has_recv = false;
  std::vector<std::pair<int32_t, Tensor>> constants;  // slots that hold the same value in every step
  std::vector<int32_t> feed_slots;         // -1: fed but not needed
  std::vector<DataType> feed_types;
  std::vector<std::string> feed_names;
  struct Fetch {
    int32_t slot;
    bool is_ref;
    std::string name;
  };
  std::vector<Fetch> fetches;
  std::vector<int32_t> slots_freed_at_end; // values without a last reader, and references
  std::shared_ptr<DeviceSet> devices;

  // Idle steps, for reuse: their slots are empty but for the constants.
  Mutex mu;
  std::vector<std::unique_ptr<Step>> idle ABSL_GUARDED_BY(mu);
};

StatusOr<std::unique_ptr<Kernel>> MakeKernelFor(const Node& node);

// "message\n\t [[{{node NAME}}]]", which TensorFlow's client looks for. Once only.
Status WithNode(const Status& status, absl::string_view node_name);

}  // namespace tandem
