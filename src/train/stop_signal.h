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

// Ends the process with exit code 143 (128 + SIGTERM: a retry may help) if it has not ended by itself so many seconds after the
// signal. For tasks whose end depends on others, which may be gone.
void EndAfterSignal(double grace_s);

}  // namespace tandem
