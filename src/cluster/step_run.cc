#include "cluster/step_run.h"

#include <utility>

#include "cluster/grpc_data_channel.h"
#include "cluster/tensor_codec.h"
#include "proto/config.pb.h"
#include "proto/worker.pb.h"
#include "runtime/step_stats.h"

namespace tandem {

// What one cut task has done so far in this step.
struct StepRun::PhasedRun {
  explicit PhasedRun(const PreparedStep::Phased& p) : part(p), values(p.values.size()), waits(new std::atomic<int>[p.phases.size()]) {
    for (size_t i = 0; i < p.phases.size(); ++i) waits[i].store(p.phases[i].waits, std::memory_order_relaxed);
  }
  const PreparedStep::Phased& part;
  std::vector<Tensor> values;
  std::unique_ptr<std::atomic<int>[]> waits;  // by phase
  std::atomic<bool> has_ended{false};
};

StepRun::StepRun(Worker* worker, std::shared_ptr<const PreparedStep> step, const StepOptions& options, Done done)
    : worker_(worker), step_(std::move(step)), options_(options), done_(std::move(done)), step_id_(NewStepId()) {
  state_ = step_->local != nullptr ? worker_->StepFor(*step_->local, step_->local_session, step_id_) : std::make_shared<StepState>(step_id_);
  parts_left_.store(static_cast<int>(step_->remotes.size() + step_->phased.size()) + (step_->local != nullptr ? 1 : 0) + 1, std::memory_order_relaxed);
  if (options.is_traced || options.wants_partition_graphs) metadata_ = std::make_unique<tensorflow::RunMetadata>();
}

StepRun::~StepRun() = default;

void StepRun::Start(absl::Span<const Tensor> feeds) {
  const std::shared_ptr<StepRun> self = shared_from_this();
  for (const auto& remote : step_->remotes) StartRemote(remote);
  for (const auto& part : step_->phased) {
    phased_.push_back(std::make_unique<PhasedRun>(part));
    StartPhased(phased_.back().get());
  }
  if (step_->local != nullptr) StartLocal(feeds);
  PartDone();  // the one that stands for this function
}

void StepRun::StartRemote(const PreparedStep::Remote& remote) {
  DataChannel::GraphCall call{.session_handle = step_->session_handle,
                              .graph_handle = remote.graph_handle,
                              .step_id = step_id_,
                              .record_timeline = options_.is_traced,
                              .record_partition_graphs = options_.wants_partition_graphs,
                              .queue = options_.queue};
  Keep(remote.task->channel->RunGraph(
      call, [self = shared_from_this(), task = remote.task](const Status& status, std::vector<NamedTensor>, const tensorflow::RunGraphResponse& response) {
        self->AddMetadata(response);
        if (!status.ok()) self->Fail(task->name, status);
        self->PartDone();
      }));
}

void StepRun::StartLocal(absl::Span<const Tensor> feeds) {
  GraphRun run{step_->local_session, step_->local, state_, {}, options_.is_traced};
  run.feeds.reserve(step_->local_feeds.size());
  if (!options_.in_portions) {
    for (int feed : step_->local_feeds) run.feeds.push_back(feeds[feed]);
  }
  if (options_.wants_partition_graphs) {
    MutexLock lock(&mu_);
    *metadata_->add_partition_graphs() = step_->local->def();
  }
  auto ended = [self = shared_from_this()](const Status& status, absl::Span<Tensor> fetches, StepTrace* trace) {
    if (trace != nullptr) {
      MutexLock lock(&self->mu_);
      AddStepStats(trace->Take(), self->metadata_->mutable_step_stats());
    }
    if (status.ok()) {
      self->fetches_.assign(std::make_move_iterator(fetches.begin()), std::make_move_iterator(fetches.end()));
    } else {
      self->Fail(self->step_->local_session->devices->task_prefix(), status);
    }
    self->PartDone();
  };
  if (options_.in_portions) {
    Worker::RunThroughRendezvous(std::move(run), ended);
  } else {
    Worker::Run(std::move(run), ended);
  }
}

// ---- phases ---------------------------------------------------------------------------------------------------------------

void StepRun::StartPhased(PhasedRun* run) {
  const auto& values = run->part.values;
  if (run->part.phases[0].waits == 0) StartPhase(run, 0);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i].is_from_master) continue;
    state_->RecvLocal(values[i].local_key, [self = shared_from_this(), run, i](const Status& status, const Tensor& value, bool is_dead) {
      if (!status.ok() || is_dead) {
        // Whoever has aborted the rendezvous reports why.
        if (run->has_ended.exchange(true)) return;
        self->Fail(run->part.task->name, status.ok() ? Internal("a dead value was given to a phase") : MarkDerived(status));
        self->PartDone();
        return;
      }
      run->values[i] = value;
      for (int phase : run->part.values[i].users) self->PhaseReady(run, phase);
    });
  }
}

void StepRun::PhaseReady(PhasedRun* run, int phase) {
  if (run->waits[phase].fetch_sub(1, std::memory_order_acq_rel) == 1) StartPhase(run, phase);
}

void StepRun::StartPhase(PhasedRun* run, int phase) {
  const PreparedStep::Phased::Phase& part = run->part.phases[phase];
  absl::InlinedVector<NamedTensorView, 8> sends;
  for (const auto& input : part.inputs) sends.push_back({input.key, &run->values[input.value]});
  DataChannel::GraphCall call{.session_handle = step_->session_handle,
                              .graph_handle = part.graph_handle,
                              .step_id = step_id_,
                              .sends = sends,
                              .recv_keys = part.recv_keys,
                              .record_timeline = options_.is_traced,
                              .record_partition_graphs = options_.wants_partition_graphs,
                              .queue = options_.queue};
  Keep(run->part.task->channel->RunGraph(
      call, [self = shared_from_this(), run, phase](const Status& status, std::vector<NamedTensor> tensors, const tensorflow::RunGraphResponse& response) {
        self->AddMetadata(response);
        self->PhaseDone(run, phase, status, std::move(tensors));
      }));
}

void StepRun::PhaseDone(PhasedRun* run, int phase, const Status& status, std::vector<NamedTensor> tensors) {
  const PreparedStep::Phased& part = run->part;
  const PreparedStep::Phased::Phase& done = part.phases[phase];
  Status result = status;
  for (size_t i = 0; i < done.outputs.size() && result.ok(); ++i) {
    size_t at = i;  // our tasks answer in the order of the request, others in that of the names
    if (at >= tensors.size() || tensors[at].name != done.recv_keys[i]) {
      for (at = 0; at < tensors.size() && tensors[at].name != done.recv_keys[i]; ++at) continue;
    }
    if (at == tensors.size()) {
      result = Internal("RunGraph did not return ", done.recv_keys[i]);
    } else {
      run->values[done.outputs[i]] = tensors[at].tensor;
    }
  }
  if (!result.ok()) {
    if (run->has_ended.exchange(true)) return;
    Fail(part.task->name, result);
    PartDone();
    return;
  }
  // The next phase may be on its way while this task computes with the results of this one.
  const bool is_last = phase + 1 == static_cast<int>(part.phases.size());
  if (!is_last) PhaseReady(run, phase + 1);
  // Sending fails only if the step was aborted; then the error is known.
  for (int output : done.outputs) {
    const PreparedStep::Phased::Value& value = part.values[output];
    if (value.has_local_key) state_->Send(value.local_key, run->values[output], /*is_dead=*/false).IgnoreError();
  }
  for (int control : done.controls) state_->Send(part.values[control].local_key, Tensor(kFloat, Shape{0}), /*is_dead=*/false).IgnoreError();
  if (is_last && !run->has_ended.exchange(true)) PartDone();
}

// ---- ends -----------------------------------------------------------------------------------------------------------------

void StepRun::Keep(std::shared_ptr<OutgoingCall> call) {
  bool is_late;
  {
    MutexLock lock(&mu_);
    is_late = is_cancelled_;
    if (!is_late) calls_.push_back(call);
  }
  if (is_late) call->Cancel();
}

void StepRun::AddMetadata(const tensorflow::RunGraphResponse& response) {
  MutexLock lock(&mu_);
  if (metadata_ == nullptr) return;
  metadata_->mutable_step_stats()->MergeFrom(response.step_stats());
  for (const auto& graph : response.partition_graph()) *metadata_->add_partition_graphs() = graph;
}

void StepRun::Fail(const std::string& task, const Status& status) {
  Status named(status.code(), absl::StrCat("From ", task, ":\n", status.message()));
  bool is_derived = IsDerived(status);
  {
    MutexLock lock(&mu_);
    // What fails after a cancellation fails because of it.
    is_derived |= is_cancelled_;
    KeepRootError(&status_, is_derived ? MarkDerived(named) : named);
  }
  // The cause of a derived error is on its way: another part must not be cancelled before it has told it.
  if (!is_derived) CancelParts(named);
}

void StepRun::Cancel(const Status& reason) {
  {
    MutexLock lock(&mu_);
    if (is_cancelled_) return;
    KeepRootError(&status_, reason);
  }
  CancelParts(reason);
}

void StepRun::CancelParts(const Status& reason) {
  absl::InlinedVector<std::shared_ptr<OutgoingCall>, 4> calls;
  {
    MutexLock lock(&mu_);
    if (is_cancelled_) return;
    is_cancelled_ = true;
    calls.swap(calls_);
  }
  for (const auto& call : calls) call->Cancel();
  state_->Abort(reason);
  state_->cancellation().Cancel(MarkDerived(reason));
}

void StepRun::PartDone() {
  if (parts_left_.fetch_sub(1, std::memory_order_acq_rel) == 1) Finish();
}

void StepRun::Finish() {
  Status status;
  std::unique_ptr<tensorflow::RunMetadata> metadata;
  {
    MutexLock lock(&mu_);
    status = std::move(status_);
    metadata = std::move(metadata_);
    calls_.clear();
  }
  const std::shared_ptr<StepRun> self = shared_from_this();
  if (!status.ok()) state_->Abort(status);  // nobody may go on waiting there, and with it keep this step
  if (!status.ok() || !options_.in_portions) ForgetLocally();
  absl::InlinedVector<Tensor, 8> fetches;
  if (status.ok() && !options_.in_portions) {
    for (int position : step_->fetch_positions) fetches.push_back(fetches_[position]);
  }
  Done done = std::move(done_);
  done(status, fetches, metadata.get());
  for (const auto& remote : step_->remotes) remote.task->channel->CleanupStep(step_id_);
  for (const auto& part : step_->phased) {
    if (part.task->needs_cleanup) part.task->channel->CleanupStep(step_id_);
  }
}

void StepRun::ForgetLocally() {
  if (step_->local != nullptr && step_->local->has_transfers()) worker_->steps().Cleanup(step_id_);
}

}  // namespace tandem
