#include "cluster/worker.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "cluster/rpc_status.h"
#include "core/log.h"
#include "kernel/kernel.h"
#include "proto/worker.pb.h"

namespace tandem {
namespace {

// What a run needs until it ends.
struct Running {
  GraphRun run;
  StepTrace trace;
  StepContext context;
  Worker::RunDone done;
};

void Start(Plan* plan, absl::Span<const Tensor> feeds, std::unique_ptr<Running> running) {
  Running* r = running.release();
  StepState& step = *r->run.step;
  r->context.step_id = step.step_id();
  r->context.rendezvous = &step;
  r->context.cancellation = &step.cancellation();
  r->context.step_resources = &step.resources();
  r->context.trace = r->run.is_traced ? &r->trace : nullptr;
  plan->RunAsync(feeds, &r->context, [r](const Status& status, absl::Span<Tensor> fetches) {
    std::unique_ptr<Running> owned(r);
    if (!status.ok()) owned->run.step->Abort(status);
    owned->done(status, fetches, owned->context.trace);
  });
}

}  // namespace

Worker::Worker(std::shared_ptr<DeviceSet> devices, std::shared_ptr<Peers> peers, RpcClient* client)
    : devices_(std::move(devices)), peers_(std::move(peers)), client_(client), no_session_(std::make_shared<WorkerSession>()) {
  no_session_->devices = devices_;
  no_session_->peers = peers_;
}

void Worker::GetStatus(tensorflow::GetStatusResponse* response) const {
  for (const auto& device : devices_->devices()) {
    auto* attributes = response->add_device_attributes();
    attributes->set_name(device->name());
    attributes->set_device_type(device->type());
    attributes->set_memory_limit(268435456);  // what TensorFlow says of every CPU
    attributes->mutable_locality();
    attributes->set_incarnation(device->incarnation());
    attributes->set_xla_global_id(-1);
  }
}

Status Worker::CreateSession(const tensorflow::CreateWorkerSessionRequest& request) {
  if (request.session_handle().empty()) return InvalidArgument("a worker session needs a handle");
  auto session = std::make_shared<WorkerSession>();
  session->handle = request.session_handle();
  session->master_task = request.master_task();
  session->master_incarnation = request.master_incarnation();
  session->devices = devices_;
  session->peers = peers_;
  const auto& server = request.server_def();
  if (server.cluster().job_size() > 0) {  // the session defines its own cluster, in which this task may have another name
    ASSIGN_OR_RETURN(ClusterSpec cluster, ClusterSpec::FromProto(server.cluster()));
    TaskName name{server.job_name(), server.task_index()};
    RETURN_IF_ERROR(cluster.Address(name).status());
    session->peers = std::make_shared<Peers>(std::move(cluster), client_);
    session->devices = devices_->Isolated(name.prefix(), name.job);
  } else if (request.isolate_session_state()) {
    session->devices = devices_->Isolated(task(), devices_->first()->resources().default_container());
  }
  std::vector<std::shared_ptr<WorkerSession>> stale;  // destroyed outside of the lock
  MutexLock lock(&mu_);
  // A master that was started anew will never ask for its old sessions again.
  for (auto it = sessions_.begin(); it != sessions_.end();) {
    const WorkerSession& old = *it->second;
    const bool is_stale = !old.master_task.empty() && old.master_task == session->master_task && old.master_incarnation != session->master_incarnation;
    if (is_stale) stale.push_back(std::move(it->second));
    if (is_stale) {
      sessions_.erase(it++);
    } else {
      ++it;
    }
  }
  sessions_.emplace(session->handle, session);
  return OkStatus();
}

void Worker::DeleteSession(absl::string_view handle) {
  std::shared_ptr<WorkerSession> session;  // destroyed outside of the lock
  MutexLock lock(&mu_);
  auto found = sessions_.find(handle);
  if (found == sessions_.end()) return;
  session = std::move(found->second);
  sessions_.erase(found);
}

StatusOr<std::shared_ptr<WorkerSession>> Worker::FindSession(absl::string_view handle, bool is_created) {
  absl::ReaderMutexLock lock(&mu_);
  auto found = sessions_.find(handle);
  if (found != sessions_.end()) return found->second;
  if (!is_created) return no_session_;
  return MarkPossiblyRestarted(Aborted("Session handle is not found: ", handle, ". Possibly this worker (\"", task(), "\") just restarted."));
}

StatusOr<std::string> Worker::RegisterGraph(WorkerSession* session, std::shared_ptr<const tensorflow::GraphDef> def) {
  ASSIGN_OR_RETURN(std::shared_ptr<RegisteredGraph> graph, RegisteredGraph::Make(std::move(def), session->devices, &session->kernels));
  MutexLock lock(&session->mu);
  std::string handle = absl::StrFormat("%016x", session->next_graph++);
  session->graphs.emplace(handle, std::move(graph));
  return handle;
}

Status Worker::DeregisterGraph(WorkerSession* session, const std::string& graph_handle) {
  std::shared_ptr<RegisteredGraph> graph;  // destroyed outside of the lock
  MutexLock lock(&session->mu);
  auto found = session->graphs.find(graph_handle);
  if (found == session->graphs.end()) return Aborted("Graph handle is not found: ", graph_handle, ". Possibly, this worker just restarted.");
  graph = std::move(found->second);
  session->graphs.erase(found);
  return OkStatus();
}

StatusOr<std::shared_ptr<RegisteredGraph>> Worker::FindGraph(WorkerSession* session, absl::string_view graph_handle) {
  absl::ReaderMutexLock lock(&session->mu);
  auto found = session->graphs.find(graph_handle);
  if (found == session->graphs.end()) return Aborted("Graph handle is not found: ", graph_handle);
  return found->second;
}

std::shared_ptr<StepState> Worker::StepFor(const RegisteredGraph& graph, const std::shared_ptr<WorkerSession>& session, int64_t step_id) {
  std::shared_ptr<StepState> step =
      graph.has_transfers() ? steps_.GetOrMake(step_id, /*is_request=*/false).value() : std::make_shared<StepState>(step_id);
  step->Bind(session->devices->task_prefix(), session->peers);
  return step;
}

void Worker::Run(GraphRun run, RunDone done) {
  auto running = std::make_unique<Running>();
  running->run = std::move(run);
  running->done = std::move(done);
  Plan* plan = &running->run.graph->plan();
  const std::vector<Tensor> feeds = std::move(running->run.feeds);
  Start(plan, feeds, std::move(running));
}

void Worker::RunThroughRendezvous(GraphRun run, RunDone done) {
  StatusOr<Plan*> plan = run.graph->TransferPlan();
  if (!plan.ok()) return done(plan.status(), {}, nullptr);
  auto running = std::make_unique<Running>();
  running->run = std::move(run);
  running->done = std::move(done);
  Start(*plan, {}, std::move(running));
}

Device* Worker::FindDevice(absl::string_view name) {
  if (Device* device = devices_->Find(name)) return device;
  MutexLock lock(&mu_);
  for (const auto& [handle, session] : sessions_) {  // sessions with a cluster of their own give this task other names
    if (Device* device = session->devices->Find(name)) return device;
  }
  return nullptr;
}

void Worker::RecvTensor(int64_t step_id, const EdgeKey& key, Rendezvous::RecvDone done) {
  const Device* device = FindDevice(key.src_device);
  if (device == nullptr) return done(InvalidArgument("the tensor ", key.full, " is not made by this task, which is ", task()), Tensor(), false);
  if (device->incarnation() != key.src_incarnation) {
    return done(MarkPossiblyRestarted(Aborted("RecvTensor expects a different device incarnation: ", key.src_incarnation, " vs. ", device->incarnation(),
                                              ". Your worker job (\"", task(),
                                              "\") was probably restarted. Check your worker job for the reason why it was restarted.")),
                Tensor(), false);
  }
  StatusOr<std::shared_ptr<StepState>> step = steps_.GetOrMake(step_id, /*is_request=*/true);
  if (!step.ok()) return done(step.status(), Tensor(), false);
  // The step lives at least until the tensor was handed over.
  (*step)->RecvLocal(key, [step = *step, done = std::move(done)](const Status& status, const Tensor& value, bool is_dead) { done(status, value, is_dead); });
}

void Worker::CleanupContainers(absl::Span<const std::string> containers) {
  for (const auto& device : devices_->devices()) {
    if (containers.empty()) device->resources().ClearContainer(device->resources().default_container());
    for (const std::string& container : containers) device->resources().ClearContainer(container);
  }
}

}  // namespace tandem
