#include "cluster/step_state.h"

#include <utility>
#include <vector>

namespace tandem {

StepState::~StepState() { Abort(Aborted("the step has ended")); }

void StepState::Bind(absl::string_view own_task, std::shared_ptr<Peers> peers) {
  MutexLock lock(&mu_);
  if (peers_ != nullptr) return;
  own_task_ = std::string(own_task);
  peers_ = std::move(peers);
}

void StepState::Recv(const EdgeKey& key, RecvDone done) {
  if (TaskOfDevice(key.src_device) == own_task_) {
    local_.Recv(key, std::move(done));
  } else {
    RecvRemote(key, std::move(done));
  }
}

void StepState::RecvRemote(const EdgeKey& key, RecvDone done) {
  StatusOr<DataChannel*> channel = peers_->Channel(TaskOfDevice(key.src_device));
  if (!channel.ok()) return done(channel.status(), Tensor(), false);
  int64_t number;
  {
    MutexLock lock(&mu_);
    number = next_call_++;
    // Taken before the call starts: it may end before it is known here, and then must not be entered.
    if (!is_aborted_) calls_.emplace(number, nullptr);
  }
  std::shared_ptr<OutgoingCall> call =
      (*channel)->RecvTensor(step_id_, key, [self = shared_from_this(), number, done = std::move(done)](const Status& status, const Tensor& value, bool is_dead) {
        bool is_aborted;
        {
          MutexLock lock(&self->mu_);
          self->calls_.erase(number);
          is_aborted = self->is_aborted_;
        }
        if (is_aborted && !status.ok()) {
          done(self->local_.status().ok() ? MarkDerived(status) : self->local_.status(), value, is_dead);
        } else {
          done(status, value, is_dead);
        }
      });
  bool is_late = false;
  {
    MutexLock lock(&mu_);
    auto found = calls_.find(number);
    if (found != calls_.end()) found->second = call;
    is_late = is_aborted_;
  }
  if (is_late) call->Cancel();
}

void StepState::Abort(const Status& reason) {
  std::vector<std::shared_ptr<OutgoingCall>> calls;
  {
    MutexLock lock(&mu_);
    is_aborted_ = true;
    for (auto& [number, call] : calls_) {
      if (call != nullptr) calls.push_back(call);
    }
  }
  local_.Abort(MarkDerived(reason));
  for (const auto& call : calls) call->Cancel();
}

bool StepState::BeginRun() {
  MutexLock lock(&mu_);
  return !std::exchange(has_begun_, true);
}

void StepState::EndRun(const Status& status) {
  std::function<void(const Status&)> waiting;
  {
    MutexLock lock(&mu_);
    has_ended_ = true;
    run_status_ = status;
    waiting.swap(when_run_ends_);
  }
  if (waiting) waiting(status);
}

void StepState::WhenRunEnds(std::function<void(const Status&)> done) {
  Status status;
  {
    MutexLock lock(&mu_);
    if (!has_ended_) {
      when_run_ends_ = std::move(done);
      return;
    }
    status = run_status_;
  }
  done(status);
}

StatusOr<std::shared_ptr<StepState>> StepTable::GetOrMake(int64_t step_id, bool is_request) {
  MutexLock lock(&mu_);
  std::shared_ptr<StepState>& step = steps_[step_id];
  if (step == nullptr) {
    if (is_request && cleaned_count_.contains(step_id)) {
      steps_.erase(step_id);
      return MarkDerived(Aborted("Cleanup ", step_id));
    }
    step = std::make_shared<StepState>(step_id);
    if (!stop_reason_.ok()) {
      step->Abort(stop_reason_);
      step->cancellation().Cancel(MarkDerived(stop_reason_));
    }
  }
  return step;
}

void StepTable::Cleanup(int64_t step_id) {
  std::shared_ptr<StepState> step;
  {
    MutexLock lock(&mu_);
    auto found = steps_.find(step_id);
    if (found != steps_.end()) {
      step = std::move(found->second);
      steps_.erase(found);
    }
    if (cleaned_.size() < kRemembered) {
      cleaned_.push_back(step_id);
    } else {
      auto oldest = cleaned_count_.find(cleaned_[next_cleaned_]);
      if (--oldest->second == 0) cleaned_count_.erase(oldest);
      cleaned_[next_cleaned_] = step_id;
      next_cleaned_ = (next_cleaned_ + 1) % kRemembered;
    }
    ++cleaned_count_[step_id];
  }
  if (step == nullptr) return;
  const Status reason = Aborted("Cleanup ", step_id);
  step->Abort(reason);
  step->cancellation().Cancel(MarkDerived(reason));
}

void StepTable::AbortAll(const Status& reason) {
  absl::flat_hash_map<int64_t, std::shared_ptr<StepState>> steps;
  {
    MutexLock lock(&mu_);
    stop_reason_ = reason;
    steps.swap(steps_);
  }
  for (auto& [id, step] : steps) {
    step->Abort(reason);
    step->cancellation().Cancel(MarkDerived(reason));
  }
}

}  // namespace tandem
