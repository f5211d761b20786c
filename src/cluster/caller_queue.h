// Lets the thread that waits for a step take the step's replies from the network itself, so that nobody has to be woken.
#pragma once

#include <grpcpp/completion_queue.h>

#include <thread>

#include "cluster/rpc_queue.h"

namespace tandem {

// For one step at a time: Begin, then work whose replies come to queue(), then WaitForEnd.
class CallerQueue : public RpcEvent {
 public:
  ~CallerQueue();

  grpc::CompletionQueue* queue() { return &queue_; }
  // On the thread that will wait.
  void Begin();
  // Once per step, from any thread.
  void End();
  // Handles what comes to the queue until End was called.
  void WaitForEnd();

  void Proceed(bool ok) override;

 private:
  grpc::CompletionQueue queue_;
  std::thread::id waiting_;
  bool has_ended_ = false;  // only the waiting thread uses it
};

}  // namespace tandem
