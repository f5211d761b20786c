// SIGTERM and SIGINT as a wish to end in good order.
#pragma once

#include <functional>
#include <map>

#include "core/mutex.h"

namespace tandem {

// One per process. The first use installs the handlers. A second SIGINT ends the process at once.
class StopSignal {
 public:
  static StopSignal& Get();

  bool is_raised() const;
  // The same without installing anything.
  static bool WasRaised();
  // Blocks until a signal comes.
  void Wait();

  // `callback` runs once, on a thread of its own, when a signal comes; at once if it came already.
  int Register(std::function<void()> callback);
  // Afterwards the callback does not run, and is not running.
  void Unregister(int token);

 private:
  StopSignal();
  void Watch();

  mutable Mutex mu_;
  bool is_raised_ ABSL_GUARDED_BY(mu_) = false;
  int next_ ABSL_GUARDED_BY(mu_) = 1;
  std::map<int, std::function<void()>> callbacks_ ABSL_GUARDED_BY(mu_);
};

// The exit code of a process that a signal ended before it was done: 128 + SIGTERM. A retry may help.
inline constexpr int kEndedBySignal = 143;

// From then on, a process that has not ended by itself some seconds after the signal ends with kEndedBySignal. For tasks whose end
// depends on others, which may be gone.
void EndAfterSignal();

}  // namespace tandem
