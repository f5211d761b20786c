// Lets the threads of a job end together.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"

namespace tandem {

// Any thread may call anything, but for Join.
class Coordinator {
 public:
  Coordinator();
  // RequestStop, then waits for the threads.
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;

  // Runs `body` on a thread of its own until it returns. A tandem::Error that it throws stops all.
  void Start(std::string name, std::function<void()> body);
  // Calls `body` every `interval_s` until the stop, the first time at once.
  void StartTimer(std::string name, double interval_s, std::function<void()> body);

  bool ShouldStop() const;
  // The first status that is not OK is what Join throws. OutOfRange counts as OK: it is how inputs end.
  void RequestStop(const absl::Status& reason = absl::OkStatus());
  // True as soon as a stop is requested; false if `seconds` have passed.
  bool WaitForStop(double seconds) const;
  // What RequestStop was given; OK before.
  absl::Status status() const;

  // Waits until all threads have ended, after the stop no longer than `stop_grace_s`. Throws the first error, or DeadlineExceeded
  // naming those that go on.
  void Join(double stop_grace_s = 120);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tandem
