#include "cluster/caller_queue.h"

#include <grpcpp/alarm.h>

#include <chrono>

namespace tandem {

CallerQueue::~CallerQueue() {
  queue_.Shutdown();
  void* event;
  bool ok;
  while (queue_.Next(&event, &ok)) static_cast<RpcEvent*>(event)->Proceed(ok);
}

void CallerQueue::Begin() {
  waiting_ = std::this_thread::get_id();
  has_ended_.store(false, std::memory_order_relaxed);
}

void CallerQueue::End() {
  if (std::this_thread::get_id() == waiting_) {
    has_ended_.store(true, std::memory_order_relaxed);
    return;
  }
  // The waiting thread returns only when this event has reached it. An alarm that is destroyed delivers its event early.
  grpc::Alarm alarm;
  alarm.Set(&queue_, std::chrono::system_clock::now(), static_cast<RpcEvent*>(this));
}

void CallerQueue::Proceed(bool) { has_ended_.store(true, std::memory_order_relaxed); }

void CallerQueue::WaitForEnd() {
  void* event;
  bool ok;
  while (!has_ended_.load(std::memory_order_relaxed) && queue_.Next(&event, &ok)) static_cast<RpcEvent*>(event)->Proceed(ok);
}

}  // namespace tandem
