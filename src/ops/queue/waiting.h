// What queues and accumulators share: lists of those who wait, and callbacks that run after the lock is gone.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "core/cancellation.h"

namespace tandem {

// One who waits and can be cancelled meanwhile.
struct Waiter {
  int64_t id = 0;
  Cancellation* cancellation = nullptr;
  Cancellation::Token token = Cancellation::kNoToken;
};

// Collects, under a lock, what shall be called when the lock is gone.
class Finished {
 public:
  Finished() = default;
  Finished(const Finished&) = delete;
  ~Finished() {
    for (auto& call : calls_) call();
  }

  // Before `call` runs, the waiter no longer listens to its step's cancellation: the step may end with the call.
  void Add(const Waiter& waiter, std::function<void()> call) {
    if (waiter.token == Cancellation::kNoToken) {
      calls_.push_back(std::move(call));
      return;
    }
    calls_.push_back([cancellation = waiter.cancellation, token = waiter.token, call = std::move(call)] {
      cancellation->Deregister(token);
      call();
    });
  }

 private:
  std::vector<std::function<void()>> calls_;
};

}  // namespace tandem
