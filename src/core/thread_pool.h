// A fixed number of threads that run closures in order of arrival.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/mutex.h"

namespace tandem {

class ThreadPool {
 public:
  // Threads start when the first closure comes.
  ThreadPool(std::string name, int thread_count);
  // Runs what was scheduled, then joins.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;

  // From any thread, also from a closure of this pool. Never blocks.
  void Schedule(std::function<void()> work);

  int thread_count() const { return thread_count_; }

 private:
  void Loop();

  const std::string name_;
  const int thread_count_;
  Mutex mu_;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mu_);
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mu_);
  bool is_stopping_ ABSL_GUARDED_BY(mu_) = false;
  int idle_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace tandem
