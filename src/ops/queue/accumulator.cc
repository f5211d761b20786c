#include "ops/queue/accumulator.h"

#include <algorithm>
#include <utility>

#include "core/log.h"

namespace tandem {

Accumulator::Accumulator(std::string name, AccumulatorSpec spec)
    : name_(std::move(name)), spec_(std::move(spec)), sum_(spec_.is_sparse ? MakeSparseSum(spec_) : MakeDenseSum(spec_)) {}

std::string Accumulator::Describe() const {
  return absl::StrCat(spec_.is_sparse ? "sparse" : "dense", " accumulator of ", DataTypeName(spec_.dtype), spec_.shape.ToString(), ", ", num_accumulated(),
                      " gradients");
}

Status Accumulator::CheckSame(const AccumulatorSpec& wanted) const {
  if (wanted.is_sparse != spec_.is_sparse || wanted.dtype != spec_.dtype || !wanted.shape.IsCompatibleWith(spec_.shape)) {
    return InvalidArgument("Shared accumulator '", name_, "' is ", spec_.is_sparse ? "sparse " : "dense ", DataTypeName(spec_.dtype), spec_.shape.ToString(),
                           " but requested was ", wanted.is_sparse ? "sparse " : "dense ", DataTypeName(wanted.dtype), wanted.shape.ToString());
  }
  return OkStatus();
}

Status Accumulator::Apply(int64_t local_step, AccumulatedGradient gradient) {
  if (gradient.values.dtype() != spec_.dtype) {
    return InvalidArgument("the accumulator is of type ", DataTypeName(spec_.dtype), ", the gradient of type ", DataTypeName(gradient.values.dtype()));
  }
  Finished finished;  // runs its calls after the lock below is gone
  MutexLock lock(&mu_);
  if (local_step < global_step_) return OkStatus();
  RETURN_IF_ERROR(sum_->Check(gradient));
  RETURN_IF_ERROR(sum_->Add(std::move(gradient)));
  ++count_;
  Serve(&finished);
  return OkStatus();
}

void Accumulator::Take(int32_t count, Cancellation* cancellation, TakeDone done) {
  if (count <= 0) return done(InvalidArgument("Argument num_required must be positive, but was ", count), {});
  Finished finished;
  MutexLock lock(&mu_);
  Request request;
  const int64_t id = request.id = next_id_++;
  request.count = count;
  request.done = std::move(done);
  requests_.push_back(std::move(request));
  Serve(&finished);
  if (requests_.empty() || requests_.back().id != id) return;
  Request& waiting = requests_.back();
  waiting.cancellation = cancellation;
  waiting.token = cancellation->Register([self = shared_from_this(), id] { self->CancelWaiter(id); });
  if (waiting.token != Cancellation::kNoToken) return;
  finished.Add(waiting, [done = std::move(waiting.done)] { done(Cancelled("TakeGrad operation was cancelled"), {}); });
  requests_.pop_back();
}

void Accumulator::Serve(Finished* finished) {
  while (!requests_.empty() && count_ >= requests_.front().count) {
    Request request = std::move(requests_.front());
    requests_.pop_front();
    StatusOr<AccumulatedGradient> average = sum_->Take(count_, spec_.is_mean);
    ++global_step_;
    count_ = 0;
    finished->Add(request, [done = std::move(request.done), average = std::move(average)]() mutable {
      average.ok() ? done(OkStatus(), *std::move(average)) : done(average.status(), {});
    });
  }
}

void Accumulator::CancelWaiter(int64_t id) {
  Finished finished;
  MutexLock lock(&mu_);
  auto found = std::find_if(requests_.begin(), requests_.end(), [id](const Request& request) { return request.id == id; });
  if (found == requests_.end()) return;  // served meanwhile
  finished.Add(*found, [done = std::move(found->done)] { done(Cancelled("TakeGrad operation was cancelled"), {}); });
  requests_.erase(found);
  Serve(&finished);  // the next one may want less
}

void Accumulator::SetGlobalStep(int64_t step) {
  MutexLock lock(&mu_);
  if (step < global_step_) LogWarning("accumulator ", name_, ": global step set back from ", global_step_, " to ", step);
  global_step_ = step;
}

int32_t Accumulator::num_accumulated() const {
  MutexLock lock(&mu_);
  return count_;
}

}  // namespace tandem
