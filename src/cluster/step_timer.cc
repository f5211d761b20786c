#include "cluster/step_timer.h"

#include <chrono>
#include <utility>

namespace tandem {

std::shared_ptr<StepTimer> StepTimer::Start(grpc::CompletionQueue* queue, int64_t timeout_ms, std::function<void()> late) {
  std::shared_ptr<StepTimer> timer(new StepTimer(std::move(late)));
  timer->self_ = timer;
  timer->alarm_.Set(queue, std::chrono::system_clock::now() + std::chrono::milliseconds(timeout_ms), static_cast<RpcEvent*>(timer.get()));
  return timer;
}

void StepTimer::Stop() { alarm_.Cancel(); }

void StepTimer::Proceed(bool is_late) {
  const std::shared_ptr<StepTimer> self = std::move(self_);
  std::function<void()> late = std::move(late_);
  if (is_late && late) late();
}

}  // namespace tandem
