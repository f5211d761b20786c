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
  has_ended_ = false;
}

// An event of its own making. gRPC's alarm must live until its event was delivered.
struct CallerQueue::Wake final : RpcEvent {
  explicit Wake(CallerQueue* waiting) : queue(waiting) {}
  void Proceed(bool) override {
    queue->has_ended_ = true;
    delete this;
  }
  CallerQueue* const queue;
  grpc::Alarm alarm;
};

void CallerQueue::End() {
  if (std::this_thread::get_id() == waiting_) {
    has_ended_ = true;
    return;
  }
  // The waiting thread returns only when this event has reached it, so it is this thread's last use of the object.
  auto* wake = new Wake(this);
  wake->alarm.Set(&queue_, std::chrono::system_clock::now(), static_cast<RpcEvent*>(wake));
}

void CallerQueue::WaitForEnd() {
  void* event;
  bool ok;
  while (!has_ended_ && queue_.Next(&event, &ok)) static_cast<RpcEvent*>(event)->Proceed(ok);
}

}  // namespace tandem
