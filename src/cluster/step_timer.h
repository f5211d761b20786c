// Ends a step that takes too long.
#pragma once

#include <grpcpp/alarm.h>

#include <functional>
#include <memory>

#include "cluster/rpc_queue.h"
#include "core/mutex.h"

namespace tandem {

class StepTimer : public RpcEvent {
 public:
  // `late` runs once on a thread that polls `queue`, unless Stop comes before.
  static std::shared_ptr<StepTimer> Start(grpc::CompletionQueue* queue, int64_t timeout_ms, std::function<void()> late);
  // Any thread, also from `late`. It may still be running.
  void Stop();

  void Proceed(bool is_late) override;

 private:
  explicit StepTimer(std::function<void()> late) : late_(std::move(late)) {}

  std::function<void()> late_;
  std::shared_ptr<StepTimer> self_;  // until the alarm has come back
  grpc::Alarm alarm_;
};

}  // namespace tandem
