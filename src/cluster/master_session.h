// A client's session: its graph, the tasks that take part, the steps that it runs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "cluster/master_env.h"
#include "cluster/partial_run.h"
#include "cluster/session_devices.h"
#include "cluster/step_cache.h"
#include "cluster/step_run.h"
#include "core/cancellation.h"
#include "graph/place.h"
#include "proto/config.pb.h"
#include "tandem/graph.h"

namespace tandem {

// Thread-safe. Methods that say so block and must not be called on a polling thread.
class MasterSession : public std::enable_shared_from_this<MasterSession> {
 public:
  struct Request {
    tensorflow::ConfigProto config;
    std::string target;  // "grpc://host:port", as the client called this task
  };
  // Waits until all tasks of the session are there, then makes their worker sessions. Blocks; `cancellation` ends it.
  static StatusOr<std::shared_ptr<MasterSession>> Create(const MasterEnv& env, const Request& request, const tensorflow::GraphDef& graph,
                                                         Cancellation* cancellation);

  const std::string& handle() const { return handle_; }

  // Returns the new version. Aborted unless `current_version` is the present one (-1: whatever it is). A failure changes nothing.
  StatusOr<int64_t> Extend(const tensorflow::GraphDef& graph, int64_t current_version);

  // One step in progress, for who may want to cancel it. Cancel does nothing before the step has started or after its end.
  class Ticket {
   public:
    void Cancel(const Status& reason);

   private:
    friend class MasterSession;
    void Attach(const std::shared_ptr<PartialRun>& partial);

    Mutex mu_;
    Status reason_ ABSL_GUARDED_BY(mu_);
    std::weak_ptr<StepRun> run_ ABSL_GUARDED_BY(mu_);
    std::weak_ptr<PartialRun> partial_ ABSL_GUARDED_BY(mu_);
  };
  // The first step of its kind is prepared on the blocking threads. `feeds` in the order of names.feeds; `names` need not outlive the call.
  void Run(const StepNames& names, std::vector<Tensor> feeds, const tensorflow::RunOptions* options, std::shared_ptr<Ticket> ticket, StepRun::Done done,
           grpc::CompletionQueue* queue = nullptr);

  // Blocks.
  StatusOr<int64_t> MakeCallable(const tensorflow::CallableOptions& options);
  void RunCallable(int64_t callable, std::vector<Tensor> feeds, std::shared_ptr<Ticket> ticket, StepRun::Done done, grpc::CompletionQueue* queue = nullptr);
  void ReleaseCallable(int64_t callable);

  // A step to be fed and fetched in portions; returns its handle. Blocks.
  StatusOr<std::string> SetUpPartialRun(absl::Span<const std::string> feeds, absl::Span<const std::string> fetches, absl::Span<const std::string> targets);
  // InvalidArgument for a handle that is unknown or has ended. `ticket` cancels the whole run.
  void RunPortion(const std::string& handle, absl::Span<const std::pair<std::string, Tensor>> feeds, absl::Span<const std::string> fetches,
                  std::shared_ptr<Ticket> ticket, PartialRun::Done done);

  // Of all tasks of the session.
  std::vector<tensorflow::DeviceAttributes> ListDevices() const;

  // Cancels what runs, waits for it, and drops the worker sessions; a task that does not answer delays it by `patience_ms`. Blocks.
  // `reason` is what running steps end with; OK: Cancelled, as the client has closed the session.
  void Close(int64_t patience_ms = 10000, const Status& reason = OkStatus());

  // Whether steps of this kind may be waited for on a queue of the caller's own.
  static bool EndsOnQueue(const PreparedStep& step) { return !step.has_remote_transfers; }

 private:
  struct Callable {
    std::shared_ptr<const PreparedStep> step;
    tensorflow::RunOptions options;
  };

  MasterSession(const MasterEnv& env, std::string handle) : env_(env), handle_(std::move(handle)) {}
  Status Import(const tensorflow::GraphDef& graph) ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mu_);
  Status UseClusterOf(const Request& request);
  Status CreateWorkerSessions();
  bool IsClosed();
  StatusOr<std::shared_ptr<const PreparedStep>> Prepare(absl::Span<const std::string> feeds, absl::Span<const std::string> fetches,
                                                        absl::Span<const std::string> targets, const tensorflow::CallableOptions* connections,
                                                        PartialSpec* partial = nullptr);
  void StartRun(std::shared_ptr<const PreparedStep> step, std::vector<Tensor> feeds, const tensorflow::RunOptions* options,
                const std::shared_ptr<Ticket>& ticket, StepRun::Done done, grpc::CompletionQueue* queue);
  Status Enter(const std::shared_ptr<StepRun>& run);
  void Leave(StepRun* run);

  const MasterEnv env_;
  const std::string handle_;
  // Constant after Create.
  tensorflow::ConfigProto config_;
  std::string own_task_;  // in the session
  std::shared_ptr<Peers> peers_;
  std::vector<SessionTask> tasks_;
  std::shared_ptr<WorkerSession> local_session_;

  StepCache steps_;

  Mutex graph_mu_;
  Graph graph_ ABSL_GUARDED_BY(graph_mu_);
  PlacementErrors placement_errors_ ABSL_GUARDED_BY(graph_mu_);
  int64_t version_ ABSL_GUARDED_BY(graph_mu_) = 0;

  Mutex mu_;
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
  absl::flat_hash_map<StepRun*, std::shared_ptr<StepRun>> running_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<int64_t, std::shared_ptr<const Callable>> callables_ ABSL_GUARDED_BY(mu_);
  int64_t next_callable_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<std::string, std::shared_ptr<PartialRun>> partial_runs_ ABSL_GUARDED_BY(mu_);
  int64_t next_partial_run_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace tandem
