// Lets one thread ask others to give up what they wait for.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <thread>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/mutex.h"
#include "core/status.h"

namespace tandem {

// One per step (and per session, server …). Thread-safe. Outlives all who registered, and every call of Cancel.
class Cancellation {
 public:
  using Token = int64_t;
  static constexpr Token kNoToken = 0;

  // Runs every registered callback once, on this thread, and remembers the reason. Later calls do nothing.
  void Cancel(const Status& reason);

  bool is_cancelled() const { return is_cancelled_.load(std::memory_order_acquire); }
  // Why; OK while not cancelled.
  Status reason() const;

  // Returns kNoToken, and does not keep the callback, if already cancelled: then the caller gives up by itself.
  Token Register(std::function<void()> callback);
  // False if the callback has run, is running or will run: the caller must then not free what it uses before it ended.
  // Never blocks.
  bool Deregister(Token token);
  // As Deregister, but waits for callbacks that are running on another thread. From inside a callback it does not wait.
  void DeregisterAndWait(Token token);

  // For reuse by the next step; nobody may be registered.
  void Reset();

 private:
  mutable Mutex mu_;
  std::atomic<bool> is_cancelled_{false};
  bool is_running_callbacks_ ABSL_GUARDED_BY(mu_) = false;
  std::thread::id callback_thread_ ABSL_GUARDED_BY(mu_);
  std::thread::id canceller_ ABSL_GUARDED_BY(mu_);  // the thread that runs them
  Status reason_ ABSL_GUARDED_BY(mu_);
  Token next_ ABSL_GUARDED_BY(mu_) = 1;
  absl::flat_hash_map<Token, std::function<void()>> callbacks_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tandem
