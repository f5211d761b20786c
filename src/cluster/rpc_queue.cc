#include "cluster/rpc_queue.h"

#include <pthread.h>

#include <utility>

namespace tandem {

RpcThreads::RpcThreads(grpc::CompletionQueue* queue, int max_threads) : queue_(queue), max_threads_(max_threads) { AddThread(); }

RpcThreads::~RpcThreads() { Stop(); }

void RpcThreads::AddThread() {
  MutexLock lock(&mu_);
  if (is_stopping_ || static_cast<int>(threads_.size()) >= max_threads_) return;
  listening_.fetch_add(1);
  threads_.emplace_back([this] { Loop(); });
  pthread_setname_np(threads_.back().native_handle(), "tandem_rpc");
}

void RpcThreads::Loop() {
  void* event = nullptr;
  bool ok = false;
  while (queue_->Next(&event, &ok)) {
    // Somebody must go on listening while this thread works: the work may itself wait for a message.
    if (listening_.fetch_sub(1) == 1) AddThread();
    static_cast<RpcEvent*>(event)->Proceed(ok);
    listening_.fetch_add(1);
  }
}

void RpcThreads::Stop() {
  std::vector<std::thread> threads;
  {
    MutexLock lock(&mu_);
    if (is_stopping_) return;
    is_stopping_ = true;
    threads.swap(threads_);
  }
  queue_->Shutdown();
  for (std::thread& thread : threads) thread.join();
  void* event = nullptr;
  bool ok = false;
  while (queue_->Next(&event, &ok)) static_cast<RpcEvent*>(event)->Proceed(ok);
}

}  // namespace tandem
