#include "train/stop_signal.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <thread>

#include "absl/time/clock.h"
#include "core/log.h"

namespace tandem {
namespace {

// A task must be gone five seconds after SIGTERM.
constexpr int kGraceSecs = 4;

int wake_pipe[2] = {-1, -1};

// Only what is safe in a handler: one byte wakes the watching thread.
void OnSignal(int number) {
  const int saved_errno = errno;
  const char byte = static_cast<char>(number);
  if (write(wake_pipe[1], &byte, 1) < 0) {
    // The pipe is full of earlier signals: the thread will wake anyway.
  }
  if (number == SIGINT) signal(SIGINT, SIG_DFL);
  errno = saved_errno;
}

}  // namespace

StopSignal& StopSignal::Get() {
  // Never destroyed: the thread may still look at it while the process ends.
  static StopSignal* const signal = new StopSignal();
  return *signal;
}

StopSignal::StopSignal() {
  if (pipe(wake_pipe) != 0) {
    LogWarning("no pipe for signals: SIGTERM ends this process at once");
    return;
  }
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  std::thread([this] { Watch(); }).detach();
}

void StopSignal::Watch() {
  char byte = 0;
  while (read(wake_pipe[0], &byte, 1) < 0 && errno == EINTR) {
  }
  LogInfo("ending: ", byte == SIGINT ? "interrupted" : "asked to by SIGTERM");
  // Callbacks run under the lock, so that Unregister can promise that they do not run any more; they only set flags.
  MutexLock lock(&mu_);
  is_raised_ = true;
  for (auto& [token, callback] : callbacks_) callback();
  callbacks_.clear();
}

bool StopSignal::WasRaised() { return wake_pipe[0] >= 0 && Get().is_raised(); }

bool StopSignal::is_raised() const {
  MutexLock lock(&mu_);
  return is_raised_;
}

void StopSignal::Wait() {
  MutexLock lock(&mu_);
  mu_.Await(absl::Condition(&is_raised_));
}

int StopSignal::Register(std::function<void()> callback) {
  MutexLock lock(&mu_);
  if (is_raised_) {
    callback();
    return 0;
  }
  callbacks_.emplace(next_, std::move(callback));
  return next_++;
}

void StopSignal::Unregister(int token) {
  MutexLock lock(&mu_);
  callbacks_.erase(token);
}

void EndAfterSignal() {
  static std::atomic<bool> is_set{false};
  if (is_set.exchange(true)) return;
  StopSignal::Get().Register([] {
    std::thread([] {
      absl::SleepFor(absl::Seconds(kGraceSecs));
      LogWarning("not ended ", kGraceSecs, " s after the signal: ending now");
      _exit(kEndedBySignal);
    }).detach();
  });
}

}  // namespace tandem
