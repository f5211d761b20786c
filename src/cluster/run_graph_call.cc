#include "cluster/run_graph_call.h"

#include <utility>

#include "absl/container/inlined_vector.h"
#include "cluster/tensor_codec.h"
#include "proto/worker.pb.h"
#include "runtime/step_stats.h"

namespace tandem {
namespace {

// RunGraphRequest and RunGraphResponse.
constexpr uint32_t kSend = 3, kRecv = 1;

struct Pending {
  Worker* worker;
  IncomingCall* call;
  tensorflow::RunGraphRequest request;
  std::vector<NamedTensor> sends;
  GraphRun run;
  std::vector<int> fetches;  // by recv_key: position among the graph's
};

void Finish(std::unique_ptr<Pending> pending, Status status, absl::Span<const NamedTensorView> results, StepTrace* trace) {
  tensorflow::RunGraphResponse response;
  const auto& options = pending->request.exec_opts();
  if (trace != nullptr) AddStepStats(trace->Take(), response.mutable_step_stats());
  if (options.record_costs()) response.mutable_cost_graph();
  if (options.record_partition_graphs() && pending->run.graph != nullptr) *response.add_partition_graph() = pending->run.graph->def();
  if (!status.ok()) {
    if (IsDerived(status)) pending->call->AddTrailer("tandem-derived", "1");
    if (!pending->request.store_errors_in_response_body()) return pending->call->Fail(status);
    response.set_status_code(static_cast<tensorflow::error::Code>(status.code()));
    response.set_status_error_message(std::string(status.message()));
    results = {};
  }
  pending->call->Reply(SerializeWithNamedTensors(response, kRecv, results));
}

Status Resolve(Pending* pending) {
  const auto& request = pending->request;
  Worker* worker = pending->worker;
  GraphRun& run = pending->run;
  ASSIGN_OR_RETURN(run.session, worker->FindSession(request.session_handle(), request.create_worker_session_called()));
  ASSIGN_OR_RETURN(run.graph, worker->FindGraph(run.session.get(), request.graph_handle()));
  run.is_traced = request.exec_opts().record_timeline();
  return OkStatus();
}

// Puts feeds and fetches where the graph wants them. False if the call does not give all feeds, or asks for what the graph does not send.
bool MapByPosition(Pending* pending) {
  const RegisteredGraph& graph = *pending->run.graph;
  std::vector<Tensor>& feeds = pending->run.feeds;
  feeds.resize(graph.feed_keys().size());
  size_t fed = 0;
  for (NamedTensor& send : pending->sends) {
    int index = graph.FindFeed(send.name);
    if (index < 0) continue;  // what no node wants is ignored
    fed += !feeds[index].has_value();
    feeds[index] = send.tensor;
  }
  for (const std::string& key : pending->request.recv_key()) {
    pending->fetches.push_back(graph.FindFetch(key));
    if (pending->fetches.back() < 0) return false;
  }
  return fed == feeds.size();
}

void RunByPosition(std::unique_ptr<Pending> pending) {
  GraphRun run = std::move(pending->run);
  pending->run.graph = run.graph;
  Worker::Run(std::move(run), [owned = pending.release()](const Status& status, absl::Span<Tensor> fetches, StepTrace* trace) {
    std::unique_ptr<Pending> pending(owned);
    absl::InlinedVector<NamedTensorView, 8> results;
    if (status.ok()) {
      for (size_t i = 0; i < pending->fetches.size(); ++i) results.push_back({pending->request.recv_key(static_cast<int>(i)), &fetches[pending->fetches[i]]});
    }
    Finish(std::move(pending), status, results, trace);
  });
}

// A call whose feeds and results go through the step's rendezvous: it ends when all results are there and, unless more portions
// follow, the graph has run.
struct Gathering {
  explicit Gathering(std::unique_ptr<Pending> p, size_t waits) : pending(std::move(p)), left(waits), results(pending->request.recv_key_size()) {}

  void Arrived(const Status& status, StepTrace* trace) {
    {
      MutexLock lock(&mu);
      KeepRootError(&error, status);
      if (--left > 0) return;
    }
    absl::InlinedVector<NamedTensorView, 8> views;
    for (size_t i = 0; i < results.size(); ++i) views.push_back({pending->request.recv_key(static_cast<int>(i)), &results[i]});
    Finish(std::move(pending), error, views, trace);
  }

  std::unique_ptr<Pending> pending;
  Mutex mu;
  size_t left ABSL_GUARDED_BY(mu);
  Status error ABSL_GUARDED_BY(mu);
  std::vector<Tensor> results;  // each written by one receiver
};

void FeedAndFetch(const std::shared_ptr<Gathering>& gathering, const std::shared_ptr<StepState>& step) {
  Pending& pending = *gathering->pending;
  const std::vector<std::string> keys(pending.request.recv_key().begin(), pending.request.recv_key().end());
  Status sent;
  for (const NamedTensor& send : pending.sends) {
    StatusOr<EdgeKey> key = EdgeKey::Parse(send.name);
    Status status = key.ok() ? step->Send(*key, send.tensor, false) : key.status();
    if (sent.ok()) sent = status;
  }
  if (!sent.ok()) step->Abort(sent);
  for (size_t i = 0; i < keys.size(); ++i) {
    StatusOr<EdgeKey> key = EdgeKey::Parse(keys[i]);
    if (!key.ok()) {
      gathering->Arrived(key.status(), nullptr);
      continue;
    }
    step->RecvLocal(*key, [gathering, i, full = keys[i], id = step->step_id()](const Status& status, const Tensor& value, bool is_dead) {
      gathering->results[i] = value;
      gathering->Arrived(is_dead ? Internal("Failed to fetch outputs for step ", id, ". (Original error message: The tensor returned for ", full, " was not valid.)")
                                 : status,
                         nullptr);
    });
  }
}

void RunThroughRendezvous(std::unique_ptr<Pending> pending) {
  Worker* worker = pending->worker;
  const auto& request = pending->request;
  const bool is_partial = request.is_partial(), is_last = !is_partial || request.is_last_partial_run();
  StatusOr<std::shared_ptr<StepState>> made = worker->steps().GetOrMake(request.step_id(), /*is_request=*/false);
  std::shared_ptr<StepState> step = *made;
  step->Bind(pending->run.session->devices->task_prefix(), pending->run.session->peers);
  pending->call->OnCancel([step] { step->cancellation().Cancel(MarkDerived(Cancelled("the caller of RunGraph has given up"))); });
  pending->run.step = step;
  GraphRun run = pending->run;
  run.feeds.clear();
  const size_t waits = request.recv_key_size() + 1;
  auto gathering = std::make_shared<Gathering>(std::move(pending), waits);
  if (step->BeginRun()) {
    // Portions after the first find the graph running.
    Worker::RunThroughRendezvous(std::move(run), [step, gathering, is_last](const Status& status, absl::Span<Tensor>, StepTrace* trace) {
      step->EndRun(status);
      if (is_last) gathering->Arrived(status, trace);
    });
    if (!is_last) gathering->Arrived(OkStatus(), nullptr);
  } else if (is_last) {
    step->WhenRunEnds([gathering](const Status& status) { gathering->Arrived(status, nullptr); });
  } else {
    gathering->Arrived(OkStatus(), nullptr);
  }
  FeedAndFetch(gathering, step);
}

}  // namespace

void RunGraphCall::Start(Worker* worker, RequestIds* ids, IncomingCall* call) {
  auto pending = std::make_unique<Pending>();
  pending->worker = worker;
  pending->call = call;
  Status status = ParseWithNamedTensors(call->request(), kSend, "send", &pending->request, &pending->sends);
  if (!status.ok()) return call->Fail(status);
  const auto& request = pending->request;
  if (!ids->IsNew(request.request_id())) status = Aborted("The same RunGraph (Worker) request was received twice. ", request.ShortDebugString());
  if (status.ok()) status = Resolve(pending.get());
  if (!status.ok()) return Finish(std::move(pending), status, {}, nullptr);
  if (request.is_partial() || !MapByPosition(pending.get())) return RunThroughRendezvous(std::move(pending));
  pending->run.step = worker->StepFor(*pending->run.graph, pending->run.session, request.step_id());
  call->OnCancel([step = pending->run.step] { step->cancellation().Cancel(MarkDerived(Cancelled("the caller of RunGraph has given up"))); });
  RunByPosition(std::move(pending));
}

}  // namespace tandem
