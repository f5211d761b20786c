// What a task does for masters: it keeps their graphs, runs them, and gives tensors to the tasks that ask.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "cluster/peers.h"
#include "cluster/registered_graph.h"
#include "cluster/step_state.h"
#include "core/mutex.h"
#include "runtime/device_set.h"

namespace tensorflow {
class CreateWorkerSessionRequest;
class GetStatusResponse;
class StepStats;
}  // namespace tensorflow

namespace tandem {

// A master's session on this task. Immutable but for its graphs.
struct WorkerSession {
  std::string handle;
  std::shared_ptr<DeviceSet> devices;
  std::shared_ptr<Peers> peers;
  std::string master_task;
  int64_t master_incarnation = 0;
  KernelCache kernels;

  Mutex mu;
  int64_t next_graph ABSL_GUARDED_BY(mu) = 1;
  absl::flat_hash_map<std::string, std::shared_ptr<RegisteredGraph>> graphs ABSL_GUARDED_BY(mu);
};

// One run of a registered graph.
struct GraphRun {
  std::shared_ptr<WorkerSession> session;
  std::shared_ptr<RegisteredGraph> graph;
  std::shared_ptr<StepState> step;
  std::vector<Tensor> feeds;  // all of graph->feed_keys()
  bool is_traced = false;
};

// Thread-safe. Nothing here blocks; what takes time ends by calling `done`.
class Worker {
 public:
  // `devices` carry the task's own name; `peers` are those of the cluster that it was started with.
  Worker(std::shared_ptr<DeviceSet> devices, std::shared_ptr<Peers> peers, RpcClient* client);

  const std::string& task() const { return devices_->task_prefix(); }
  const std::shared_ptr<DeviceSet>& devices() const { return devices_; }
  StepTable& steps() { return steps_; }

  void GetStatus(tensorflow::GetStatusResponse* response) const;

  // A repeated call for one handle is OK and changes nothing.
  Status CreateSession(const tensorflow::CreateWorkerSessionRequest& request);
  void DeleteSession(absl::string_view handle);
  // Aborted "Session handle is not found …"; the session of those that have none if `is_created` is false.
  StatusOr<std::shared_ptr<WorkerSession>> FindSession(absl::string_view handle, bool is_created);

  StatusOr<std::string> RegisterGraph(WorkerSession* session, std::shared_ptr<const tensorflow::GraphDef> def);
  Status DeregisterGraph(WorkerSession* session, const std::string& graph_handle);
  // Aborted "Graph handle is not found: …".
  StatusOr<std::shared_ptr<RegisteredGraph>> FindGraph(WorkerSession* session, absl::string_view graph_handle);

  // The state that a run of `graph` in this step needs: shared with peers if it exchanges tensors with them, else its own.
  std::shared_ptr<StepState> StepFor(const RegisteredGraph& graph, const std::shared_ptr<WorkerSession>& session, int64_t step_id);

  // `fetches` in the order of graph->fetch_keys(); `trace` null unless traced. An error has ended the step's rendezvous with it.
  using RunDone = std::function<void(const Status& status, absl::Span<Tensor> fetches, StepTrace* trace)>;
  static void Run(GraphRun run, RunDone done);
  // The same with feeds and fetches in the step's rendezvous.
  static void RunThroughRendezvous(GraphRun run, RunDone done);

  // Gives a tensor of a step to a peer. Aborted if the key is of another incarnation of this task.
  void RecvTensor(int64_t step_id, const EdgeKey& key, Rendezvous::RecvDone done);

  // Removes what the containers hold on all devices; without names, the default container of each.
  void CleanupContainers(absl::Span<const std::string> containers);

 private:
  Device* FindDevice(absl::string_view name);

  const std::shared_ptr<DeviceSet> devices_;
  const std::shared_ptr<Peers> peers_;
  RpcClient* const client_;
  StepTable steps_;

  Mutex mu_;
  std::shared_ptr<WorkerSession> no_session_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, std::shared_ptr<WorkerSession>> sessions_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tandem
