#include "tandem/coordinator.h"

#include <thread>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "core/log.h"
#include "core/mutex.h"
#include "core/status.h"
#include "tandem/error.h"

namespace tandem {

struct Coordinator::State {
  struct Worker {
    std::string name;
    std::thread thread;
    bool is_done = false;
  };

  mutable Mutex mu;
  bool is_stopping ABSL_GUARDED_BY(mu) = false;
  Status status ABSL_GUARDED_BY(mu);
  std::vector<std::unique_ptr<Worker>> workers ABSL_GUARDED_BY(mu);

  bool AllDone() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    for (const auto& worker : workers) {
      if (!worker->is_done) return false;
    }
    return true;
  }

  void Stop(const Status& reason) {
    MutexLock lock(&mu);
    is_stopping = true;
    if (status.ok() && !absl::IsOutOfRange(reason)) status = reason;
  }
};

Coordinator::Coordinator() : state_(std::make_shared<State>()) {}

Coordinator::~Coordinator() {
  RequestStop();
  std::vector<std::unique_ptr<State::Worker>> workers;
  {
    MutexLock lock(&state_->mu);
    workers = std::move(state_->workers);
    state_->workers.clear();
  }
  for (auto& worker : workers) {
    if (worker->thread.joinable()) worker->thread.join();
  }
}

void Coordinator::Start(std::string name, std::function<void()> body) {
  auto worker = std::make_unique<State::Worker>();
  State::Worker* const made = worker.get();
  made->name = std::move(name);
  MutexLock lock(&state_->mu);
  made->thread = std::thread([state = state_.get(), made, body = std::move(body)] {
    try {
      body();
    } catch (const Error& error) {
      if (!absl::IsOutOfRange(error.status())) LogError(made->name, ": ", error.status().ToString());
      state->Stop(error.status());
    } catch (const std::exception& error) {
      LogError(made->name, ": ", error.what());
      state->Stop(Internal(made->name, ": ", error.what()));
    }
    MutexLock done(&state->mu);
    made->is_done = true;
  });
  state_->workers.push_back(std::move(worker));
}

void Coordinator::StartTimer(std::string name, double interval_s, std::function<void()> body) {
  Start(std::move(name), [this, interval_s, body = std::move(body)] {
    absl::Time next = absl::Now();
    do {
      body();
      // Rounds that a slow one has missed are not made up for.
      next = std::max(next + absl::Seconds(interval_s), absl::Now());
    } while (!WaitForStop(absl::ToDoubleSeconds(next - absl::Now())));
  });
}

bool Coordinator::ShouldStop() const {
  MutexLock lock(&state_->mu);
  return state_->is_stopping;
}

void Coordinator::RequestStop(const Status& reason) { state_->Stop(reason); }

bool Coordinator::WaitForStop(double seconds) const {
  MutexLock lock(&state_->mu);
  return state_->mu.AwaitWithTimeout(absl::Condition(&state_->is_stopping), absl::Seconds(seconds));
}

Status Coordinator::status() const {
  MutexLock lock(&state_->mu);
  return state_->status;
}

void Coordinator::Join(double stop_grace_s) {
  std::vector<std::unique_ptr<State::Worker>> ended;
  std::vector<std::string> late;
  Status status;
  {
    MutexLock lock(&state_->mu);
    auto all_done = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_->mu) { return state_->AllDone(); };
    auto stopping_or_done = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_->mu) { return state_->is_stopping || state_->AllDone(); };
    state_->mu.Await(absl::Condition(&stopping_or_done));
    state_->mu.AwaitWithTimeout(absl::Condition(&all_done), absl::Seconds(stop_grace_s));
    for (auto worker = state_->workers.begin(); worker != state_->workers.end();) {
      if ((*worker)->is_done) {
        ended.push_back(std::move(*worker));
        worker = state_->workers.erase(worker);
      } else {
        late.push_back((*worker)->name);
        ++worker;
      }
    }
    status = state_->status;
  }
  for (auto& worker : ended) worker->thread.join();
  if (!status.ok()) throw Error(status);
  if (!late.empty()) throw Error(DeadlineExceeded("threads that did not end within ", stop_grace_s, " s: ", absl::StrJoin(late, ", ")));
}

}  // namespace tandem
