// One step on its way through the cluster.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "cluster/outgoing_call.h"
#include "cluster/prepared_step.h"
#include "core/mutex.h"

namespace grpc {
class CompletionQueue;
}  // namespace grpc
namespace tensorflow {
class RunGraphResponse;
class RunMetadata;
}  // namespace tensorflow

namespace tandem {

struct StepOptions {
  bool is_traced = false;
  bool wants_partition_graphs = false;
  bool in_portions = false;                // feeds and fetches of this task's part pass its rendezvous, see PartialRun
  grpc::CompletionQueue* queue = nullptr;  // who waits for RunGraph's replies; null: the task's threads
};

// Starts all parts at once; the part of this task runs on the calling thread. Errors name the task: "From /job:ps/replica:0/task:0:\n…".
// The root cause wins over what follows from it; after it, what still runs is cancelled.
class StepRun : public std::enable_shared_from_this<StepRun> {
 public:
  // `fetches` in the order in which they were asked for; `metadata` lives until `done` returns.
  using Done = std::function<void(const Status& status, absl::Span<const Tensor> fetches, tensorflow::RunMetadata* metadata)>;

  StepRun(Worker* worker, std::shared_ptr<const PreparedStep> step, const StepOptions& options, Done done);
  ~StepRun();

  // Once. `feeds` as many as step->feed_count. `done` runs exactly once, maybe before this returns.
  void Start(absl::Span<const Tensor> feeds);
  // The step in this task.
  const std::shared_ptr<StepState>& state() const { return state_; }
  // For a step in portions, when all its results were fetched: drops its rendezvous.
  void ForgetLocally();
  // Any time, any thread. The step ends soon with `reason`.
  void Cancel(const Status& reason);

 private:
  struct PhasedRun;

  void StartRemote(const PreparedStep::Remote& remote);
  void StartPhased(PhasedRun* run);
  void PhaseReady(PhasedRun* run, int phase);
  void StartPhase(PhasedRun* run, int phase);
  void PhaseDone(PhasedRun* run, int phase, const Status& status, std::vector<NamedTensor> tensors);
  void StartLocal(absl::Span<const Tensor> feeds);

  void Keep(std::shared_ptr<OutgoingCall> call);
  void AddMetadata(const tensorflow::RunGraphResponse& response);
  // A part has failed; the step goes on until all parts have ended.
  void Fail(const std::string& task, const Status& status);
  void CancelParts(const Status& reason);
  void PartDone();
  void Finish();

  Worker* const worker_;
  const std::shared_ptr<const PreparedStep> step_;
  const StepOptions options_;
  Done done_;
  const int64_t step_id_;
  std::shared_ptr<StepState> state_;  // of this task; constant after construction
  std::vector<std::unique_ptr<PhasedRun>> phased_;
  std::atomic<int> parts_left_;
  std::vector<Tensor> fetches_;       // of the local graph

  Mutex mu_;
  Status status_ ABSL_GUARDED_BY(mu_);
  bool is_cancelled_ ABSL_GUARDED_BY(mu_) = false;
  absl::InlinedVector<std::shared_ptr<OutgoingCall>, 4> calls_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<tensorflow::RunMetadata> metadata_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tandem
