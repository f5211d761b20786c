#include "core/cancellation.h"

namespace tandem {

void Cancellation::Cancel(const Status& reason) {
  absl::flat_hash_map<Token, std::function<void()>> callbacks;
  {
    MutexLock lock(&mu_);
    if (is_cancelled_.load(std::memory_order_relaxed)) return;
    reason_ = reason.ok() ? Cancelled("cancelled") : reason;
    is_cancelled_.store(true, std::memory_order_release);
    is_running_callbacks_ = true;
    callback_thread_ = std::this_thread::get_id();
    canceller_ = std::this_thread::get_id();
    callbacks.swap(callbacks_);
  }
  for (auto& [token, callback] : callbacks) callback();
  MutexLock lock(&mu_);
  is_running_callbacks_ = false;
}

Status Cancellation::reason() const {
  MutexLock lock(&mu_);
  return reason_;
}

Cancellation::Token Cancellation::Register(std::function<void()> callback) {
  MutexLock lock(&mu_);
  if (is_cancelled_.load(std::memory_order_relaxed)) return kNoToken;
  Token token = next_++;
  callbacks_.emplace(token, std::move(callback));
  return token;
}

bool Cancellation::Deregister(Token token) {
  MutexLock lock(&mu_);
  return callbacks_.erase(token) > 0;
}

void Cancellation::DeregisterAndWait(Token token) {
  MutexLock lock(&mu_);
  if (callbacks_.erase(token) > 0) return;
  // A callback that ends what it cancels, and so comes here itself, must not wait for itself.
  if (is_running_callbacks_ && callback_thread_ == std::this_thread::get_id()) return;
  auto is_done = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return !is_running_callbacks_ || canceller_ == std::this_thread::get_id(); };
  mu_.Await(absl::Condition(&is_done));
}

void Cancellation::Reset() {
  MutexLock lock(&mu_);
  callbacks_.clear();
  reason_ = OkStatus();
  is_cancelled_.store(false, std::memory_order_release);
}

}  // namespace tandem
