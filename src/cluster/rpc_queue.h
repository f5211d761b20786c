// The threads that wait for the network. All calls in and out of a task share one completion queue, so that whoever receives a message
// also does the work that it asks for.
#pragma once

#include <grpcpp/completion_queue.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/mutex.h"

namespace tandem {

// What a completion queue returns.
class RpcEvent {
 public:
  virtual void Proceed(bool ok) = 0;

 protected:
  ~RpcEvent() = default;
};

// Threads that take events from one queue. There are as many as work at the same time, and one more to listen; they are started when
// needed, up to a limit.
class RpcThreads {
 public:
  RpcThreads(grpc::CompletionQueue* queue, int max_threads);
  ~RpcThreads();

  // Shuts the queue down, which no call may use any more, and joins; not from one of the threads.
  void Stop();

 private:
  void Loop();
  void AddThread();

  grpc::CompletionQueue* const queue_;
  const int max_threads_;
  std::atomic<int> listening_{0};
  Mutex mu_;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mu_);
  bool is_stopping_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace tandem
