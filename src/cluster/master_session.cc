#include "cluster/master_session.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "cluster/message_buffer.h"
#include "cluster/step_timer.h"
#include "core/log.h"
#include "core/random.h"
#include "graph/graph_state.h"
#include "proto/worker.pb.h"

namespace tandem {
namespace {

Status ClosedError() { return FailedPrecondition("Session is closed."); }

Status CheckConfig(const tensorflow::ConfigProto& config) {
  if (config.use_per_session_threads() || config.session_inter_op_thread_pool_size() > 0) {
    return InvalidArgument("Distributed session does not support session thread pool options.");
  }
  return OkStatus();
}

}  // namespace

StatusOr<std::shared_ptr<MasterSession>> MasterSession::Create(const MasterEnv& env, const Request& request, const tensorflow::GraphDef& graph,
                                                               Cancellation* cancellation) {
  RETURN_IF_ERROR(CheckGraphSyntax(graph));
  RETURN_IF_ERROR(CheckConfig(request.config));
  std::shared_ptr<MasterSession> session(new MasterSession(env, absl::StrFormat("%016x", RandomUint64())));
  session->config_ = request.config;
  session->own_task_ = env.task;
  session->peers_ = env.peers;
  if (request.config.cluster_def().job_size() > 0) RETURN_IF_ERROR(session->UseClusterOf(request));
  const auto& filters = request.config.device_filters();
  ASSIGN_OR_RETURN(session->tasks_, SelectTasks(session->peers_.get(), session->own_task_, std::vector<std::string>(filters.begin(), filters.end())));
  RETURN_IF_ERROR(DiscoverDevices(&session->tasks_, request.config.operation_timeout_in_ms(), cancellation));
  tensorflow::GetStatusResponse own;
  env.worker->GetStatus(&own);
  for (SessionTask& task : session->tasks_) {
    if (!task.is_master) continue;
    for (auto device : own.device_attributes()) {
      device.set_name(task.name + device.name().substr(env.task.size()));
      task.devices.push_back(std::move(device));
    }
  }
  {
    MutexLock lock(&session->graph_mu_);
    RETURN_IF_ERROR(session->Import(graph));
  }
  Status created = session->CreateWorkerSessions();
  if (!created.ok()) {
    session->Close();
    return created;
  }
  return session;
}

Status MasterSession::Import(const tensorflow::GraphDef& graph) {
  RETURN_IF_ERROR(ImportGraph(graph, {}, &graph_));
  PlacementOptions options;
  for (const SessionTask& task : tasks_) {
    for (const auto& device : task.devices) options.devices.push_back({device.name(), device.device_type()});
  }
  options.master_task = own_task_;
  options.allow_soft_placement = config_.allow_soft_placement();
  placement_errors_ = PlaceGraph(options, &graph_);
  return OkStatus();
}

// The session brings a cluster of its own, in which this task is the one at the address by which the client called it.
Status MasterSession::UseClusterOf(const Request& request) {
  ASSIGN_OR_RETURN(ClusterSpec cluster, ClusterSpec::FromProto(request.config.cluster_def()));
  const absl::string_view address = absl::StripPrefix(request.target, "grpc://");
  own_task_.clear();
  for (const TaskName& task : cluster.tasks()) {
    if (cluster.Address(task).value() != address) continue;
    own_task_ = task.prefix();
    if (own_task_ != env_.task) continue;
    return InvalidArgument("The ClusterSpec names the job and task index to be the same names that were provided when the server booted. "
                           "This is currently not allowed. Job: ", task.job, ", task index: ", task.index);
  }
  if (own_task_.empty()) return InvalidArgument("the target ", request.target, " is not the address of a task in the session's cluster");
  peers_ = std::make_shared<Peers>(std::move(cluster), env_.client);
  return OkStatus();
}

Status MasterSession::CreateWorkerSessions() {
  const bool has_own_cluster = peers_ != env_.peers;
  tensorflow::CreateWorkerSessionRequest request;
  request.set_session_handle(handle_);
  request.set_isolate_session_state(config_.isolate_session_state() || has_own_cluster);
  auto set_task = [&](const std::string& task) {
    TaskName name;
    ParseTaskName(task, &name);
    request.mutable_server_def()->set_job_name(name.job);
    request.mutable_server_def()->set_task_index(name.index);
  };
  request.mutable_server_def()->set_protocol("grpc");
  if (has_own_cluster) peers_->cluster().ToProto(request.mutable_server_def()->mutable_cluster());
  set_task(own_task_);
  request.set_master_task(own_task_);
  request.set_master_incarnation(static_cast<int64_t>(env_.worker->devices()->first()->incarnation()));
  RETURN_IF_ERROR(env_.worker->CreateSession(request));
  ASSIGN_OR_RETURN(local_session_, env_.worker->FindSession(handle_, /*is_created=*/true));
  absl::BlockingCounter left(2 * (static_cast<int>(tasks_.size()) - 1));
  std::vector<Status> answers(tasks_.size());
  for (size_t i = 0; i < tasks_.size(); ++i) {
    SessionTask& task = tasks_[i];
    if (task.is_master) continue;
    set_task(task.name);
    task.rpc->Call(RpcMethod::kCreateWorkerSession, SerializeMessage(request), {}, [&left, &answer = answers[i]](RpcReply reply) {
      answer = std::move(reply.status);
      left.DecrementCount();
    });
    // TensorFlow does not know this call, and then gets the CleanupGraph that it needs.
    task.rpc->Call(RpcMethod::kHello, WireWriter().Finish(), {}, [&left, &task](RpcReply reply) {
      task.needs_cleanup = !reply.status.ok();
      left.DecrementCount();
    });
  }
  left.Wait();
  Status status;
  for (const Status& answer : answers) KeepRootError(&status, answer);
  return status;
}

StatusOr<int64_t> MasterSession::Extend(const tensorflow::GraphDef& graph, int64_t current_version) {
  if (IsClosed()) return ClosedError();
  MutexLock lock(&graph_mu_);
  if (current_version >= 0 && current_version != version_) {
    return Aborted("Current version is ", version_, " but caller expected ", current_version, ".");
  }
  for (const auto& node : graph.node()) {
    if (graph_.FindNode(node.name()) == nullptr) continue;
    return InvalidArgument("GraphDef argument to Extend includes node '", node.name(), "', which was created by a previous call to Create or Extend in this session.");
  }
  RETURN_IF_ERROR(Import(graph));
  return ++version_;
}

// ---- steps ----------------------------------------------------------------------------------------------------------------

StatusOr<std::shared_ptr<const PreparedStep>> MasterSession::Prepare(absl::Span<const std::string> feeds, absl::Span<const std::string> fetches,
                                                                     absl::Span<const std::string> targets, const tensorflow::CallableOptions* connections,
                                                                     PartialSpec* partial) {
  std::vector<int> fetch_index;
  StepPartitions partitions;
  {
    MutexLock lock(&graph_mu_);
    ASSIGN_OR_RETURN(StepSpec spec, ResolveStep(graph_, feeds, fetches, targets, &fetch_index));
    for (int i = 0; connections != nullptr && i < connections->tensor_connection_size(); ++i) {
      const auto& connection = connections->tensor_connection(i);
      ASSIGN_OR_RETURN(Output from, graph_.FindOutput(connection.from_tensor()));
      ASSIGN_OR_RETURN(Output to, graph_.FindOutput(connection.to_tensor()));
      spec.connections.emplace_back(from, to);
    }
    ASSIGN_OR_RETURN(StepGraph step, Prune(graph_, std::move(spec)));
    RETURN_IF_ERROR(placement_errors_.Check(step.nodes()));
    PartitionOptions options;
    absl::flat_hash_map<std::string, uint64_t> incarnations;
    for (const SessionTask& task : tasks_) {
      if (task.is_master) options.client_device = task.devices[0].name();
      for (const auto& device : task.devices) incarnations[device.name()] = device.incarnation();
    }
    options.incarnation = [&incarnations](const std::string& device) { return incarnations[device]; };
    options.use_phases = env_.use_phases && partial == nullptr;  // a phase starts only with all its inputs
    ASSIGN_OR_RETURN(partitions, PartitionByTask(step, options));
    if (partial != nullptr) {
      ASSIGN_OR_RETURN(*partial, PartialSpec::Make(step, partitions, feeds, fetches, fetch_index));
    }
  }
  return RegisterStep(partitions, fetch_index, local_session_, tasks_, handle_, config_);
}

void MasterSession::Ticket::Cancel(const Status& reason) {
  std::shared_ptr<StepRun> run;
  std::shared_ptr<PartialRun> partial;
  {
    MutexLock lock(&mu_);
    if (reason_.ok()) reason_ = reason;
    run = run_.lock();
    partial = partial_.lock();
  }
  if (run != nullptr) run->Cancel(reason);
  if (partial != nullptr) partial->Cancel(reason);
}

void MasterSession::Ticket::Attach(const std::shared_ptr<PartialRun>& partial) {
  MutexLock lock(&mu_);
  partial_ = partial;
}

void MasterSession::Run(const StepNames& names, std::vector<Tensor> feeds, const tensorflow::RunOptions* options, std::shared_ptr<Ticket> ticket,
                        StepRun::Done done, grpc::CompletionQueue* queue) {
  if (std::shared_ptr<const PreparedStep> step = steps_.Find(names)) {
    StartRun(std::move(step), std::move(feeds), options, ticket, std::move(done), queue);
    return;
  }
  auto build = [self = shared_from_this()](std::shared_ptr<const StepCache::OwnedNames> owned, StepCache::Done built) {
    self->env_.blocking->Schedule(
        [self, owned, built = std::move(built)] { built(self->Prepare(owned->feeds, owned->fetches, owned->targets, nullptr)); });
  };
  auto kept_options = options == nullptr ? nullptr : std::make_shared<tensorflow::RunOptions>(*options);
  steps_.FindOrBuild(names, build,
                     [self = shared_from_this(), feeds = std::move(feeds), kept_options, ticket, done = std::move(done), queue](const StepCache::StepOr& step) {
                       if (!step.ok()) return done(step.status(), {}, nullptr);
                       self->StartRun(*step, feeds, kept_options.get(), ticket, done, queue);
                     });
}

void MasterSession::StartRun(std::shared_ptr<const PreparedStep> step, std::vector<Tensor> feeds, const tensorflow::RunOptions* options,
                             const std::shared_ptr<Ticket>& ticket, StepRun::Done done, grpc::CompletionQueue* queue) {
  StepOptions step_options;
  int64_t timeout_ms = 0;
  if (options != nullptr) {
    step_options.is_traced = options->trace_level() == tensorflow::RunOptions::FULL_TRACE;
    step_options.wants_partition_graphs = options->output_partition_graphs();
    timeout_ms = options->timeout_in_ms();
  }
  if (feeds.size() != step->feed_count) {
    return done(InvalidArgument("the step takes ", step->feed_count, " feeds, ", feeds.size(), " were given"), {}, nullptr);
  }
  if (IsClosed()) return done(ClosedError(), {}, nullptr);
  step_options.queue = EndsOnQueue(*step) ? queue : nullptr;
  struct Held {
    std::shared_ptr<StepRun> run;
    std::shared_ptr<StepTimer> timer;
  };
  auto held = std::make_shared<Held>();
  held->run = std::make_shared<StepRun>(
      env_.worker, std::move(step), step_options,
      [self = shared_from_this(), held, done = std::move(done)](const Status& status, absl::Span<const Tensor> fetches, tensorflow::RunMetadata* metadata) {
        if (held->timer != nullptr) held->timer->Stop();
        self->Leave(held->run.get());
        held->run.reset();
        done(status, fetches, metadata);
      });
  const std::shared_ptr<StepRun> run = held->run;
  Status entered = Enter(run);
  if (entered.ok() && ticket != nullptr) {
    MutexLock lock(&ticket->mu_);
    ticket->run_ = run;
    entered = ticket->reason_;
  }
  if (timeout_ms > 0) {
    held->timer = StepTimer::Start(env_.queue, timeout_ms, [weak = std::weak_ptr<StepRun>(run), timeout_ms] {
      if (auto late = weak.lock()) late->Cancel(DeadlineExceeded("the step did not end within ", timeout_ms, " ms, the timeout of its RunOptions"));
    });
  }
  if (!entered.ok()) run->Cancel(entered);
  run->Start(feeds);
}

bool MasterSession::IsClosed() {
  absl::ReaderMutexLock lock(&mu_);
  return is_closed_;
}

Status MasterSession::Enter(const std::shared_ptr<StepRun>& run) {
  MutexLock lock(&mu_);
  running_.emplace(run.get(), run);
  return is_closed_ ? ClosedError() : OkStatus();
}

void MasterSession::Leave(StepRun* run) {
  std::shared_ptr<StepRun> left;  // destroyed outside of the lock
  MutexLock lock(&mu_);
  auto found = running_.find(run);
  left = std::move(found->second);
  running_.erase(found);
}

// ---- callables ------------------------------------------------------------------------------------------------------------

StatusOr<int64_t> MasterSession::MakeCallable(const tensorflow::CallableOptions& options) {
  auto strings = [](const auto& list) { return std::vector<std::string>(list.begin(), list.end()); };
  auto callable = std::make_shared<Callable>();
  ASSIGN_OR_RETURN(callable->step, Prepare(strings(options.feed()), strings(options.fetch()), strings(options.target()), &options));
  callable->options = options.run_options();
  MutexLock lock(&mu_);
  if (is_closed_) return ClosedError();
  callables_.emplace(next_callable_, std::move(callable));
  return next_callable_++;
}

void MasterSession::RunCallable(int64_t handle, std::vector<Tensor> feeds, std::shared_ptr<Ticket> ticket, StepRun::Done done, grpc::CompletionQueue* queue) {
  std::shared_ptr<const Callable> callable;
  {
    MutexLock lock(&mu_);
    auto found = callables_.find(handle);
    if (found != callables_.end()) callable = found->second;
  }
  if (callable == nullptr) return done(InvalidArgument("No such callable handle: ", handle), {}, nullptr);
  StartRun(callable->step, std::move(feeds), &callable->options, ticket, std::move(done), queue);
}

void MasterSession::ReleaseCallable(int64_t handle) {
  std::shared_ptr<const Callable> callable;  // destroyed outside of the lock
  MutexLock lock(&mu_);
  auto found = callables_.find(handle);
  if (found == callables_.end()) return;
  callable = std::move(found->second);
  callables_.erase(found);
}

StatusOr<std::string> MasterSession::SetUpPartialRun(absl::Span<const std::string> feeds, absl::Span<const std::string> fetches,
                                                    absl::Span<const std::string> targets) {
  std::string handle;
  {
    MutexLock lock(&mu_);
    if (is_closed_) return ClosedError();
    handle = absl::StrCat(next_partial_run_++);  // also counts those that fail, as TensorFlow's does
  }
  PartialSpec spec;
  ASSIGN_OR_RETURN(std::shared_ptr<const PreparedStep> step, Prepare(feeds, fetches, targets, nullptr, &spec));
  auto partial = std::make_shared<PartialRun>(std::move(spec));
  auto raw = std::make_shared<StepRun*>(nullptr);
  auto run = std::make_shared<StepRun>(env_.worker, std::move(step), StepOptions{.in_portions = true},
                                       [self = shared_from_this(), partial, raw](const Status& status, absl::Span<const Tensor>, tensorflow::RunMetadata*) {
                                         self->Leave(*raw);
                                         partial->StepEnded(status);
                                       });
  *raw = run.get();
  Status entered = Enter(run);
  if (!entered.ok()) run->Cancel(entered);
  {
    MutexLock lock(&mu_);
    partial_runs_.emplace(handle, partial);
  }
  partial->Begin(std::move(run));
  return handle;
}

void MasterSession::RunPortion(const std::string& handle, absl::Span<const std::pair<std::string, Tensor>> feeds, absl::Span<const std::string> fetches,
                               std::shared_ptr<Ticket> ticket, PartialRun::Done done) {
  std::shared_ptr<PartialRun> partial;
  {
    MutexLock lock(&mu_);
    auto found = partial_runs_.find(handle);
    if (found != partial_runs_.end()) partial = found->second;
  }
  if (partial == nullptr) return done(InvalidArgument("Must run PartialRunSetup before performing partial runs"), {}, false);
  if (ticket != nullptr) ticket->Attach(partial);
  partial->Continue(feeds, fetches, [self = shared_from_this(), handle, done = std::move(done)](const Status& status, absl::Span<const Tensor> values, bool is_last) {
    if (is_last) {
      MutexLock lock(&self->mu_);
      self->partial_runs_.erase(handle);
    }
    done(status, values, is_last);
  });
}

// ---- end ------------------------------------------------------------------------------------------------------------------

std::vector<tensorflow::DeviceAttributes> MasterSession::ListDevices() const {
  std::vector<tensorflow::DeviceAttributes> all;
  for (const SessionTask& task : tasks_) all.insert(all.end(), task.devices.begin(), task.devices.end());
  return all;
}

void MasterSession::Close(int64_t patience_ms, const Status& reason) {
  std::vector<std::shared_ptr<StepRun>> running;
  {
    MutexLock lock(&mu_);
    if (is_closed_) return;
    is_closed_ = true;
    for (auto& [raw, run] : running_) running.push_back(run);
  }
  for (const auto& run : running) run->Cancel(reason.ok() ? Cancelled("Step was cancelled by an explicit call to `Session::Close()`.") : reason);
  running.clear();
  {
    MutexLock lock(&mu_);
    auto is_idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return running_.empty(); };
    mu_.Await(absl::Condition(&is_idle));
  }
  tensorflow::DeleteWorkerSessionRequest request;
  request.set_session_handle(handle_);
  env_.worker->DeleteSession(handle_);
  auto left = std::make_shared<absl::BlockingCounter>(static_cast<int>(tasks_.size()) - 1);
  for (const SessionTask& task : tasks_) {
    if (task.is_master) continue;
    task.rpc->Call(RpcMethod::kDeleteWorkerSession, SerializeMessage(request), {.deadline_ms = patience_ms}, [left, name = task.name](RpcReply reply) {
      if (!reply.status.ok()) LogDebug("DeleteWorkerSession at ", name, ": ", reply.status.message());
      left->DecrementCount();
    });
  }
  left->Wait();
}

}  // namespace tandem
