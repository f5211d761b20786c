#include "cluster/caller_queue.h"

#include <grpc/support/time.h>
#include <grpcpp/alarm.h>

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

void CallerQueue::End() {
  if (std::this_thread::get_id() == waiting_) {
    has_ended_ = true;
    return;
  }
  // The waiting thread returns only when this event has reached it. An alarm for a time long past delivers it before Set returns. One for
  // now may still be with gRPC's timer thread when it is destroyed here, and gRPC then uses what it has freed.
  grpc::Alarm alarm;
  alarm.Set(&queue_, gpr_inf_past(GPR_CLOCK_REALTIME), static_cast<RpcEvent*>(this));
}

void CallerQueue::Proceed(bool) { has_ended_ = true; }

void CallerQueue::WaitForEnd() {
  void* event;
  bool ok;
  while (!has_ended_ && queue_.Next(&event, &ok)) static_cast<RpcEvent*>(event)->Proceed(ok);
}

}  // namespace tandem
