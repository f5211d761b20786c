#include "runtime/local_session.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "core/clock.h"
#include "core/mutex.h"
#include "graph/graph_state.h"
#include "graph/place.h"
#include "graph/prune.h"
#include "proto/config.pb.h"
#include "proto/device.pb.h"
#include "runtime/local_rendezvous.h"
#include "runtime/plan.h"
#include "runtime/step_stats.h"

namespace tandem {
namespace {

// A plan, and where each asked-for fetch is among the plan's (double fetches are computed once).
struct PreparedRun {
  std::unique_ptr<Plan> plan;
  std::vector<int> fetch_index;
};

// What a step needs beside its plan; kept for the next step.
struct StepState {
  Cancellation cancellation;
  ResourceManager resources{"step"};
  StepContext context;
};

class LocalSession : public SessionBackend {
 public:
  explicit LocalSession(std::shared_ptr<DeviceSet> devices) : devices_(std::move(devices)) {}

  ~LocalSession() override { Close().IgnoreError(); }  // closing twice is no problem here

  Status Extend(const tensorflow::GraphDef& graph) override {
    MutexLock lock(&mu_);
    if (is_closed_) return ClosedError();
    RETURN_IF_ERROR(ImportGraph(graph, {.keep_unknown_ops = true}, &graph_));
    PlacementOptions options;
    for (const auto& device : devices_->devices()) options.devices.push_back({device->name(), device->type()});
    options.master_task = devices_->task_prefix();
    placement_errors_ = PlaceGraph(options, &graph_);
    return OkStatus();
  }

  Status Run(const RunRequest& request, std::vector<Tensor>* outputs) override {
    std::vector<std::string> feed_names;
    std::vector<Tensor> feeds;
    for (const auto& [name, value] : request.feeds) {
      feed_names.push_back(name);
      feeds.push_back(value);
    }
    ASSIGN_OR_RETURN(std::shared_ptr<PreparedRun> prepared, FindOrPrepare(feed_names, request.fetches, request.targets));
    return RunPrepared(*prepared, feeds, request.options, request.metadata, outputs);
  }

  StatusOr<int64_t> MakeCallable(const tensorflow::CallableOptions& options) override {
    if (options.tensor_connection_size() > 0) return Unimplemented("tensor_connection in a local session's callable");
    auto strings = [](const auto& list) { return std::vector<std::string>(list.begin(), list.end()); };
    MutexLock lock(&mu_);
    ASSIGN_OR_RETURN(std::shared_ptr<PreparedRun> prepared, Prepare(strings(options.feed()), strings(options.fetch()), strings(options.target())));
    const int64_t handle = next_callable_++;
    callables_.emplace(handle, std::move(prepared));
    return handle;
  }

  Status RunCallable(int64_t handle, absl::Span<const Tensor> feeds, std::vector<Tensor>* outputs, tensorflow::RunMetadata* metadata) override {
    std::shared_ptr<PreparedRun> prepared;
    {
      absl::ReaderMutexLock lock(&mu_);
      if (is_closed_) return ClosedError();
      auto found = callables_.find(handle);
      if (found == callables_.end()) return InvalidArgument("No such callable handle: ", handle);
      prepared = found->second;
    }
    return RunPrepared(*prepared, feeds, nullptr, metadata, outputs);
  }

  Status ReleaseCallable(int64_t handle) override {
    std::shared_ptr<PreparedRun> released;  // destroyed outside of the lock
    MutexLock lock(&mu_);
    auto found = callables_.find(handle);
    if (found == callables_.end()) return OkStatus();
    released = std::move(found->second);
    callables_.erase(found);
    return OkStatus();
  }

  Status ListDevices(std::vector<tensorflow::DeviceAttributes>* devices) override {
    for (const auto& device : devices_->devices()) {
      tensorflow::DeviceAttributes attributes;
      attributes.set_name(device->name());
      attributes.set_device_type(device->type());
      attributes.set_memory_limit(268435456);  // what TensorFlow says of every CPU
      attributes.set_incarnation(device->incarnation());
      attributes.set_xla_global_id(-1);
      devices->push_back(std::move(attributes));
    }
    return OkStatus();
  }

  Status Close() override {
    MutexLock lock(&mu_);
    if (is_closed_) return OkStatus();
    is_closed_ = true;
    // Cancel() runs callbacks of the steps, which never take mu_.
    for (StepState* step : running_) step->cancellation.Cancel(Cancelled("Step was cancelled by an explicit call to `Session::Close()`."));
    auto is_idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return running_.empty(); };
    mu_.Await(absl::Condition(&is_idle));
    return OkStatus();
  }

 private:
  static Status ClosedError() { return FailedPrecondition("Session is closed."); }

  StatusOr<std::shared_ptr<PreparedRun>> FindOrPrepare(const std::vector<std::string>& feeds, const std::vector<std::string>& fetches,
                                                       const std::vector<std::string>& targets) {
    const std::string signature = absl::StrCat(absl::StrJoin(feeds, ","), "->", absl::StrJoin(fetches, ","), "/", absl::StrJoin(targets, ","));
    {
      absl::ReaderMutexLock lock(&mu_);
      if (is_closed_) return ClosedError();
      auto found = runs_.find(signature);
      if (found != runs_.end()) return found->second;
    }
    MutexLock lock(&mu_);
    auto found = runs_.find(signature);
    if (found != runs_.end()) return found->second;
    ASSIGN_OR_RETURN(std::shared_ptr<PreparedRun> prepared, Prepare(feeds, fetches, targets));
    runs_.emplace(signature, prepared);
    return prepared;
  }

  StatusOr<std::shared_ptr<PreparedRun>> Prepare(const std::vector<std::string>& feeds, const std::vector<std::string>& fetches,
                                                 const std::vector<std::string>& targets) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (is_closed_) return ClosedError();
    auto prepared = std::make_shared<PreparedRun>();
    ASSIGN_OR_RETURN(StepSpec spec, ResolveStep(graph_, feeds, fetches, targets, &prepared->fetch_index));
    if (!placement_errors_.empty()) {
      ASSIGN_OR_RETURN(StepGraph step, Prune(graph_, spec));
      RETURN_IF_ERROR(placement_errors_.Check(step.nodes()));
    }
    PlanSpec plan;
    plan.feeds = spec.feeds;
    plan.fetches = spec.fetches;
    plan.targets = spec.targets;
    plan.devices = devices_;
    plan.kernels = &kernels_;
    ASSIGN_OR_RETURN(prepared->plan, Plan::Make(graph_, plan));
    return prepared;
  }

  Status RunPrepared(const PreparedRun& prepared, absl::Span<const Tensor> feeds, const tensorflow::RunOptions* options, tensorflow::RunMetadata* metadata,
                     std::vector<Tensor>* outputs) {
    std::unique_ptr<StepState> step;
    {
      MutexLock lock(&mu_);
      if (is_closed_) return ClosedError();
      if (!idle_.empty()) {
        step = std::move(idle_.back());
        idle_.pop_back();
      } else {
        step = std::make_unique<StepState>();
      }
      step->context.step_id = next_step_++;
      running_.push_back(step.get());
    }
    const bool is_traced = options != nullptr && metadata != nullptr && options->trace_level() == tensorflow::RunOptions::FULL_TRACE;
    StepTrace trace;
    step->context.cancellation = &step->cancellation;
    step->context.step_resources = &step->resources;
    step->context.trace = is_traced ? &trace : nullptr;
    Status status;
    std::vector<Tensor> values;
    const bool is_direct = prepared.fetch_index.empty() || IsIdentity(prepared.fetch_index);
    std::vector<Tensor>* target = is_direct ? outputs : &values;
    const int64_t timeout_ms = options == nullptr ? 0 : options->timeout_in_ms();
    if (timeout_ms > 0 && prepared.plan->has_async_nodes()) {
      status = RunWithTimeout(*prepared.plan, feeds, step.get(), timeout_ms, target);
    } else {
      status = prepared.plan->Run(feeds, &step->context, target);
    }
    if (status.ok() && !is_direct) {
      outputs->clear();
      for (int index : prepared.fetch_index) outputs->push_back(values[index]);
    }
    if (is_traced) AddStepStats(trace.Take(), metadata->mutable_step_stats());
    step->resources.Clear();
    if (!status.ok()) step->cancellation.Reset();
    MutexLock lock(&mu_);
    for (StepState*& running : running_) {
      if (running != step.get()) continue;
      running = running_.back();
      running_.pop_back();
      break;
    }
    idle_.push_back(std::move(step));
    return status;
  }

  // A step that may wait is watched by the thread that called Run; the step itself goes on wherever its news arrives.
  Status RunWithTimeout(Plan& plan, absl::Span<const Tensor> feeds, StepState* step, int64_t timeout_ms, std::vector<Tensor>* outputs) {
    Mutex mu;
    bool is_done = false;
    Status result;
    plan.RunAsync(feeds, &step->context, [&](const Status& status, absl::Span<Tensor> values) {
      MutexLock lock(&mu);
      result = status;
      outputs->assign(std::make_move_iterator(values.begin()), std::make_move_iterator(values.end()));
      is_done = true;
    });
    MutexLock lock(&mu);
    if (mu.AwaitWithTimeout(absl::Condition(&is_done), absl::Milliseconds(timeout_ms))) return result;
    mu.Unlock();
    step->cancellation.Cancel(DeadlineExceeded("Timed out waiting for the step: ", timeout_ms, " ms have passed."));
    mu.Lock();
    mu.Await(absl::Condition(&is_done));
    return result.ok() ? result : DeadlineExceeded("Timed out waiting for notification: the step did not end within ", timeout_ms, " ms");
  }

  static bool IsIdentity(const std::vector<int>& index) {
    for (size_t i = 0; i < index.size(); ++i) {
      if (index[i] != static_cast<int>(i)) return false;
    }
    return true;
  }

  const std::shared_ptr<DeviceSet> devices_;
  KernelCache kernels_;
  Mutex mu_;
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
  Graph graph_ ABSL_GUARDED_BY(mu_);
  PlacementErrors placement_errors_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, std::shared_ptr<PreparedRun>> runs_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<int64_t, std::shared_ptr<PreparedRun>> callables_ ABSL_GUARDED_BY(mu_);
  int64_t next_callable_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t next_step_ ABSL_GUARDED_BY(mu_) = 1;
  std::vector<StepState*> running_ ABSL_GUARDED_BY(mu_);
  std::vector<std::unique_ptr<StepState>> idle_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

std::unique_ptr<SessionBackend> NewLocalSession(std::shared_ptr<DeviceSet> devices) {
  if (devices == nullptr) devices = DeviceSet::MakeCpus("/job:localhost/replica:0/task:0", "localhost", 1);
  return std::make_unique<LocalSession>(std::move(devices));
}

}  // namespace tandem
