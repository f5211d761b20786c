// A graph made ready to run many times: nodes in order, values in numbered slots, no name or map left.
//
// Nodes are grouped into segments: straight runs of nodes that wait for the same asynchronous nodes (_Recv, dequeues). A step runs
// the segments that wait for nothing on the caller's thread, in order; when an asynchronous node ends, the thread that brings the
// news runs the segments that it was the last to hold up. So a step without transfers is a loop over an array.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "core/status.h"
#include "graph/node.h"
#include "kernel/kernel.h"
#include "runtime/device_set.h"
#include "tandem/graph.h"

namespace tandem {

// Kernels of stateful ops live as long as the session: a random op goes on with its sequence whatever is fetched. By node name.
class KernelCache {
 public:
  StatusOr<std::shared_ptr<Kernel>> GetOrMake(const Node& node);

 private:
  Mutex mu_;
  absl::flat_hash_map<std::string, std::shared_ptr<Kernel>> kernels_ ABSL_GUARDED_BY(mu_);
};

struct PlanSpec {
  std::vector<Output> feeds;      // values given to each run, in this order; their nodes do not run for these outputs
  std::vector<Output> fetches;    // values returned by each run; a ref output gives the variable's current value
  std::vector<Node*> targets;     // run as well
  std::shared_ptr<DeviceSet> devices;  // nodes without an assigned device run on the first
  KernelCache* kernels = nullptr; // null: all kernels belong to this plan
};

class Plan {
 public:
  // Keeps what is needed from the graph, which may go afterwards. Errors: an op that is not registered or has no kernel for its
  // types, a device that is not here, a kernel that refuses its attrs; each names the node.
  static StatusOr<std::unique_ptr<Plan>> Make(const Graph& graph, const PlanSpec& spec);
  ~Plan();

  // `fetches` in the order of the spec; the tensors may be moved out. Called exactly once, when nothing of the step runs any more.
  using Done = std::function<void(const Status& status, absl::Span<Tensor> fetches)>;

  // Any thread, many at a time. `step` must live until `done` was called. `done` may run before RunAsync returns.
  // After the first error no further node starts, and waiting ones are cancelled through step->cancellation.
  void RunAsync(absl::Span<const Tensor> feeds, StepContext* step, Done done);
  // The same, waiting for the end on this thread.
  Status Run(absl::Span<const Tensor> feeds, StepContext* step, std::vector<Tensor>* fetches);

  int node_count() const;
  int segment_count() const;
  // Whether some node may wait (a _Recv, a dequeue …).
  bool has_async_nodes() const;

  struct Body;  // plan_body.h
  struct Step;  // plan.cc

 private:
  explicit Plan(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

}  // namespace tandem
