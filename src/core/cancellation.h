// Lets one thread ask others to give up what they wait for.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/mutex.h"
#include "core/status.h"

namespace tandem {

// One per step (and per session, server …). Thread-safe. Outlives all who registered.
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
  // As Deregister, but waits for a callback that is running on another thread.
  void DeregisterAndWait(Token token);

  // For reuse by the next step; nobody may be registered.
  void Reset();

 private:
  mutable Mutex mu_;
  std::atomic<bool> is_cancelled_{false};
  bool is_running_callbacks_ ABSL_GUARDED_BY(mu_) = false;
  Status reason_ ABSL_GUARDED_BY(mu_);
  Token next_ ABSL_GUARDED_BY(mu_) = 1;
  absl::flat_hash_map<Token, std::function<void()>> callbacks_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tandem
