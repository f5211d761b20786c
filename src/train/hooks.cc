// The hooks that come with MonitoredSession.
#include "absl/strings/str_cat.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/log.h"
#include "core/status.h"
#include "tandem/error.h"
#include "tandem/monitored_session.h"

namespace tandem {
namespace {

int64_t StepIn(const Tensor& value) { return value.dtype() == kInt64 ? value.scalar<int64_t>() : value.scalar<int32_t>(); }

int64_t CurrentStep(Session& session, const Variable& step) { return StepIn(session.Run({step})[0]); }

}  // namespace

bool IntervalTimer::ShouldTrigger(int64_t step) const {
  if (!has_triggered_) return true;
  if (interval_.steps > 0) return step >= last_step_ + interval_.steps;
  return interval_.secs > 0 && static_cast<double>(MonotonicNanos() - last_nanos_) * 1e-9 >= interval_.secs;
}

std::pair<double, int64_t> IntervalTimer::Trigger(int64_t step) {
  const int64_t now = MonotonicNanos();
  std::pair<double, int64_t> since(0, 0);
  if (has_triggered_) since = {static_cast<double>(now - last_nanos_) * 1e-9, step - last_step_};
  has_triggered_ = true;
  last_step_ = step;
  last_nanos_ = now;
  return since;
}

// ---- stop -----------------------------------------------------------------------------------------------------------------

std::shared_ptr<StopAtStepHook> StopAtStepHook::At(int64_t last_step) { return std::make_shared<StopAtStepHook>(last_step, false); }
std::shared_ptr<StopAtStepHook> StopAtStepHook::After(int64_t steps) { return std::make_shared<StopAtStepHook>(steps, true); }

void StopAtStepHook::Begin(Graph& graph) { step_ = GlobalStep(graph); }

void StopAtStepHook::AfterCreateSession(Session& session) {
  if (has_start_) return;  // a session made anew does not start the count again
  has_start_ = true;
  last_step_ = counts_from_start_ ? CurrentStep(session, step_) + steps_ : steps_;
}

std::vector<Fetch> StopAtStepHook::BeforeRun(RunContext&) { return {step_}; }

void StopAtStepHook::AfterRun(RunContext& context, const std::vector<Tensor>& values) {
  // The fetched value may be that from before this run's update; only a fresh look tells whether this was the last step.
  if (StepIn(values[0]) + 1 >= last_step_ && CurrentStep(context.session(), step_) >= last_step_) context.RequestStop();
}

// ---- checkpoints ------------------------------------------------------------------------------------------------------------

void CheckpointSaverHook::Begin(Graph& graph) { step_ = GlobalStep(graph); }

void CheckpointSaverHook::AfterCreateSession(Session& session) {
  const int64_t step = CurrentStep(session, step_);
  Save(session, step);
  timer_.Trigger(step);
}

std::vector<Fetch> CheckpointSaverHook::BeforeRun(RunContext&) { return {step_}; }

void CheckpointSaverHook::AfterRun(RunContext& context, const std::vector<Tensor>& values) {
  if (!timer_.ShouldTrigger(StepIn(values[0]) + 1)) return;
  const int64_t step = CurrentStep(context.session(), step_);
  if (!timer_.ShouldTrigger(step)) return;
  timer_.Trigger(step);
  Save(context.session(), step);
}

void CheckpointSaverHook::End(Session& session) {
  const int64_t step = CurrentStep(session, step_);
  if (step != last_saved_) Save(session, step);
}

void CheckpointSaverHook::Save(Session& session, int64_t step) {
  const std::string path = saver_->Save(session, JoinPath(directory_, basename_), step);
  LogInfo("saved ", path);
  last_saved_ = step;
}

// ---- log --------------------------------------------------------------------------------------------------------------------

std::vector<Fetch> LoggingHook::BeforeRun(RunContext&) {
  is_due_ = timer_.ShouldTrigger(runs_);
  std::vector<Fetch> fetches;
  if (is_due_) {
    for (const auto& [name, tensor] : tensors_) fetches.push_back(tensor);
  }
  return fetches;
}

void LoggingHook::AfterRun(RunContext&, const std::vector<Tensor>& values) {
  if (is_due_) {
    std::string line;
    for (size_t i = 0; i < values.size(); ++i) absl::StrAppend(&line, i == 0 ? "" : ", ", tensors_[i].first, " = ", values[i].ToString());
    const auto [seconds, runs] = timer_.Trigger(runs_);
    if (runs > 0) absl::StrAppend(&line, " (", seconds, " s)");
    LogInfo(line);
  }
  ++runs_;
}

// ---- summaries --------------------------------------------------------------------------------------------------------------

void SummarySaverHook::Begin(Graph& graph) {
  step_ = GlobalStep(graph);
  if (!summary_op_.is_valid()) summary_op_ = summary::MergeAll(graph);
}

std::vector<Fetch> SummarySaverHook::BeforeRun(RunContext&) {
  is_due_ = summary_op_.is_valid() && (next_step_ < 0 || timer_.ShouldTrigger(next_step_));
  if (is_due_) return {step_, summary_op_};
  return {step_};
}

void SummarySaverHook::AfterRun(RunContext&, const std::vector<Tensor>& values) {
  const int64_t step = StepIn(values[0]);
  next_step_ = step + 1;
  if (!is_due_) return;
  timer_.Trigger(step);
  writer_->AddSummary(values[1], step);
}

void SummarySaverHook::End(Session&) { writer_->Flush(); }

void StepCounterHook::Begin(Graph& graph) { step_ = GlobalStep(graph); }

std::vector<Fetch> StepCounterHook::BeforeRun(RunContext&) { return {step_}; }

void StepCounterHook::AfterRun(RunContext&, const std::vector<Tensor>& values) {
  const int64_t step = StepIn(values[0]);
  if (!timer_.ShouldTrigger(step)) return;
  const auto [seconds, steps] = timer_.Trigger(step);
  if (steps <= 0 || seconds <= 0) return;
  const float rate = static_cast<float>(static_cast<double>(steps) / seconds);
  LogInfo("step ", step, ", ", rate, " steps/s");
  if (writer_ != nullptr) writer_->AddScalar("global_step/sec", rate, step);
}

}  // namespace tandem
