// What the master of a task works with.
#pragma once

#include <memory>
#include <string>

#include "cluster/peers.h"
#include "cluster/worker.h"
#include "core/thread_pool.h"

namespace grpc {
class CompletionQueue;
}  // namespace grpc

namespace tandem {

// All pointers outlive the master and its sessions.
struct MasterEnv {
  std::string task;                 // "/job:worker/replica:0/task:0"
  Worker* worker = nullptr;         // of this process
  std::shared_ptr<Peers> peers;     // of the cluster that the task was started with
  RpcClient* client = nullptr;
  ThreadPool* blocking = nullptr;   // for work that waits for other tasks
  grpc::CompletionQueue* queue = nullptr;
  bool use_phases = true;
};

}  // namespace tandem
