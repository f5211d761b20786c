// What a task keeps of a step: its rendezvous, its temporary resources, and how to end it.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "cluster/outgoing_call.h"
#include "cluster/peers.h"
#include "core/cancellation.h"
#include "kernel/rendezvous.h"
#include "kernel/resource.h"
#include "runtime/local_rendezvous.h"

namespace tandem {

// A tensor that another task gives is asked for there, all others pass through the local rendezvous, where peers ask for them as well.
class StepState : public Rendezvous, public std::enable_shared_from_this<StepState> {
 public:
  explicit StepState(int64_t step_id) : step_id_(step_id) {}
  ~StepState() override;

  int64_t step_id() const { return step_id_; }
  Cancellation& cancellation() { return cancellation_; }
  ResourceManager& resources() { return resources_; }

  // Who gives tensors that are not made here; once, before the step runs. `own_task` is this task's name in the session.
  void Bind(absl::string_view own_task, std::shared_ptr<Peers> peers);

  Status Send(const EdgeKey& key, const Tensor& value, bool is_dead) override { return local_.Send(key, value, is_dead); }
  void Recv(const EdgeKey& key, RecvDone done) override;
  // Also ends what is asked for at other tasks. Whoever waits sees `reason` as derived: the cause is reported by the graph that failed.
  void Abort(const Status& reason) override;

  // For peers, and for the master in this process.
  void RecvLocal(const EdgeKey& key, RecvDone done) { local_.Recv(key, std::move(done)); }

  // A graph that is fed in portions runs once in a step, whatever number of calls feed it.
  bool BeginRun();                                          // false if it was begun before
  void EndRun(const Status& status);
  void WhenRunEnds(std::function<void(const Status&)> done);  // at once if it has ended

 private:
  void RecvRemote(const EdgeKey& key, RecvDone done);

  const int64_t step_id_;
  LocalRendezvous local_;
  Cancellation cancellation_;
  ResourceManager resources_{"step"};

  Mutex mu_;
  std::string own_task_;           // constant after Bind
  std::shared_ptr<Peers> peers_;   // likewise
  bool is_aborted_ ABSL_GUARDED_BY(mu_) = false;
  bool has_begun_ ABSL_GUARDED_BY(mu_) = false;
  bool has_ended_ ABSL_GUARDED_BY(mu_) = false;
  Status run_status_ ABSL_GUARDED_BY(mu_);
  std::function<void(const Status&)> when_run_ends_ ABSL_GUARDED_BY(mu_);
  int64_t next_call_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<int64_t, std::shared_ptr<OutgoingCall>> calls_ ABSL_GUARDED_BY(mu_);
};

// The steps that this task takes part in. Thread-safe.
class StepTable {
 public:
  // Made if it is not there. Aborted "Cleanup N" if it was cleaned up a while ago and `is_request`: a peer asks too late.
  StatusOr<std::shared_ptr<StepState>> GetOrMake(int64_t step_id, bool is_request);
  // Forgets the step; what still runs or waits in it ends with Aborted "Cleanup N".
  void Cleanup(int64_t step_id);
  // Ends all steps, and those that come, when the task stops.
  void AbortAll(const Status& reason);

 private:
  static constexpr size_t kRemembered = 1024;

  Mutex mu_;
  Status stop_reason_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<int64_t, std::shared_ptr<StepState>> steps_ ABSL_GUARDED_BY(mu_);
  // The last steps that were cleaned up, as a ring and as a set.
  std::vector<int64_t> cleaned_ ABSL_GUARDED_BY(mu_);
  size_t next_cleaned_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<int64_t, int> cleaned_count_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tandem
