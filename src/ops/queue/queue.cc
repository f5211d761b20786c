#include "ops/queue/queue.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "ops/queue/stack_elements.h"

namespace tandem {
namespace {

std::unique_ptr<ElementStore> MakeStore(const QueueSpec& spec) {
  if (spec.kind == "RandomShuffleQueue") return MakeShuffleStore(spec.seed, spec.seed2);
  if (spec.kind == "PriorityQueue") return MakePriorityStore();
  return MakeFifoStore();
}

std::string TypeList(const std::vector<DataType>& types) {
  return absl::StrJoin(types, ", ", [](std::string* out, DataType type) { out->append(DataTypeName(type)); });
}

std::string ShapeList(const std::vector<PartialShape>& shapes) {
  return absl::StrJoin(shapes, ", ", [](std::string* out, const PartialShape& shape) { out->append(shape.ToString()); });
}

PartialShape WithRows(int64_t rows, const PartialShape& element) {
  if (!element.has_rank()) return element;
  PartialShape batch = PartialShape::Scalar();
  batch.AddDim(rows);
  for (int64_t size : element.dims()) batch.AddDim(size);
  return batch;
}

}  // namespace

Queue::Queue(std::string name, QueueSpec spec) : name_(std::move(name)), spec_(std::move(spec)), elements_(MakeStore(spec_)) {}

std::string Queue::Describe() const { return absl::StrCat(spec_.kind, " of ", TypeList(spec_.types), ", ", size(), " elements"); }

Status Queue::CheckSame(const QueueSpec& wanted) const {
  if (wanted.kind != spec_.kind) return InvalidArgument("Shared queue '", name_, "': Expected ", spec_.kind, ", found ", wanted.kind);
  if (wanted.capacity != spec_.capacity && (wanted.capacity >= 0 || spec_.capacity >= 0)) {
    return InvalidArgument("Shared queue '", name_, "' has capacity ", spec_.capacity, " but requested capacity was ", wanted.capacity);
  }
  if (wanted.types != spec_.types) {
    return InvalidArgument("Shared queue '", name_, "' has component types ", TypeList(spec_.types), " but requested component types were ",
                           TypeList(wanted.types));
  }
  if (wanted.shapes != spec_.shapes) {
    return InvalidArgument("Shared queue '", name_, "' has component shapes ", ShapeList(spec_.shapes), " but requested component shapes were ",
                           ShapeList(wanted.shapes));
  }
  if (wanted.min_after_dequeue != spec_.min_after_dequeue) {
    return InvalidArgument("Shared queue '", name_, "' has min_after_dequeue ", spec_.min_after_dequeue, " but requested min_after_dequeue was ",
                           wanted.min_after_dequeue, ".");
  }
  if ((wanted.seed != spec_.seed || wanted.seed2 != spec_.seed2) && (wanted.seed != 0 || wanted.seed2 != 0)) {
    return InvalidArgument("Shared queue '", name_, "' has random seeds (", spec_.seed, ", ", spec_.seed2, ") but requested seeds are (", wanted.seed, ", ",
                           wanted.seed2, ").");
  }
  return OkStatus();
}

Status Queue::CheckTypes(const Tuple& tuple) const {
  if (tuple.size() != spec_.types.size()) {
    return InvalidArgument("Signature mismatch: an element of ", spec_.kind, " '", name_, "' has ", spec_.types.size(), " components, got ", tuple.size());
  }
  for (size_t i = 0; i < tuple.size(); ++i) {
    if (tuple[i].dtype() == spec_.types[i]) continue;
    return InvalidArgument("Type mismatch in tuple component ", i, ". Expected ", DataTypeName(spec_.types[i]), ", got ", DataTypeName(tuple[i].dtype()));
  }
  return OkStatus();
}

Status Queue::CheckElement(const Tuple& element) const {
  RETURN_IF_ERROR(CheckTypes(element));
  for (size_t i = 0; i < spec_.shapes.size(); ++i) {
    if (spec_.shapes[i].Allows(element[i].shape())) continue;
    return InvalidArgument("Shape mismatch in tuple component ", i, ". Expected ", spec_.shapes[i].ToString(), ", got ", element[i].shape().ToString());
  }
  return OkStatus();
}

Status Queue::CheckBatch(const Tuple& batch) const {
  RETURN_IF_ERROR(CheckTypes(batch));
  for (size_t i = 0; i < batch.size(); ++i) {
    const Shape& shape = batch[i].shape();
    if (shape.rank() < 1) return InvalidArgument("Shape mismatch in tuple component ", i, ". Expected rows of elements, got []");
    const int64_t rows = batch[0].shape().dim(0);
    if (!spec_.shapes.empty()) {
      const PartialShape wanted = WithRows(rows, spec_.shapes[i]);
      if (!wanted.Allows(shape)) {
        return InvalidArgument("Shape mismatch in tuple component ", i, ". Expected ", wanted.ToString(), ", got ", shape.ToString());
      }
    }
    if (shape.dim(0) != rows) {
      return InvalidArgument("All input tensors must have the same size in the 0th dimension. Component ", i, " has ", shape.dim(0), ", and should have ", rows);
    }
  }
  return OkStatus();
}

Status Queue::ClosedError() const { return Cancelled(spec_.kind, " '", name_, "' is closed."); }

void Queue::Enqueue(Tuple element, Cancellation* cancellation, Done done) {
  if (Status status = CheckElement(element); !status.ok()) return done(status);
  Put put;
  put.batch = std::move(element);
  put.done = std::move(done);
  AddPut(std::move(put), cancellation);
}

void Queue::EnqueueMany(Tuple batch, Cancellation* cancellation, Done done) {
  if (Status status = CheckBatch(batch); !status.ok()) return done(status);
  Put put;
  put.is_batch = true;
  put.row_count = batch[0].shape().dim(0);
  put.batch = std::move(batch);
  put.done = std::move(done);
  AddPut(std::move(put), cancellation);
}

void Queue::Dequeue(Cancellation* cancellation, TupleDone done) {
  Take take;
  take.done = std::move(done);
  AddTake(std::move(take), cancellation);
}

void Queue::DequeueMany(int64_t count, bool allows_fewer, Cancellation* cancellation, TupleDone done) {
  if (count < 0) return done(InvalidArgument("DequeueManyOp requested ", count, " < 0 elements"), {});
  if (spec_.shapes.empty()) {
    return done(InvalidArgument(spec_.kind, "'s DequeueMany and DequeueUpTo require the components to have specified shapes."), {});
  }
  if (count == 0) {
    StatusOr<Tuple> empty = StackElements({}, spec_.types, spec_.shapes);
    return empty.ok() ? done(OkStatus(), *std::move(empty)) : done(empty.status(), {});
  }
  Take take;
  take.is_batch = true;
  take.allows_fewer = allows_fewer;
  take.count = count;
  take.done = std::move(done);
  AddTake(std::move(take), cancellation);
}

void Queue::Close(bool cancels_pending, Cancellation* cancellation, Done done) {
  if (!cancels_pending) {
    Put put;
    put.is_close = true;
    put.done = std::move(done);
    return AddPut(std::move(put), cancellation);
  }
  {
    Finished finished;
    MutexLock lock(&mu_);
    is_closed_ = true;
    for (Put& put : puts_) FinishPut(std::move(put), Cancelled("Enqueue operation was cancelled"), &finished);
    puts_.clear();
    Progress(&finished);
  }
  done(OkStatus());
}

int64_t Queue::size() const {
  MutexLock lock(&mu_);
  return elements_->size();
}

bool Queue::is_closed() const {
  MutexLock lock(&mu_);
  return is_closed_;
}

void Queue::AddPut(Put put, Cancellation* cancellation) {
  Finished finished;  // runs its calls after the lock below is gone
  MutexLock lock(&mu_);
  const int64_t id = put.id = next_id_++;
  puts_.push_back(std::move(put));
  Progress(&finished);
  if (puts_.empty() || puts_.back().id != id || Listen(&puts_.back(), cancellation)) return;
  FinishPut(std::move(puts_.back()), Cancelled("Enqueue operation was cancelled"), &finished);
  puts_.pop_back();
}

void Queue::AddTake(Take take, Cancellation* cancellation) {
  Finished finished;
  MutexLock lock(&mu_);
  const int64_t id = take.id = next_id_++;
  takes_.push_back(std::move(take));
  Progress(&finished);
  if (takes_.empty() || takes_.back().id != id || Listen(&takes_.back(), cancellation)) return;
  Take cancelled = std::move(takes_.back());
  takes_.pop_back();
  FinishTake(std::move(cancelled), Cancelled("Dequeue operation was cancelled"), &finished);
  Progress(&finished);
}

bool Queue::Listen(Waiter* waiter, Cancellation* cancellation) {
  waiter->cancellation = cancellation;
  waiter->token = cancellation->Register([self = shared_from_this(), id = waiter->id] { self->CancelWaiter(id); });
  return waiter->token != Cancellation::kNoToken;
}

void Queue::CancelWaiter(int64_t id) {
  Finished finished;
  MutexLock lock(&mu_);
  const auto is_it = [id](const Waiter& waiter) { return waiter.id == id; };
  if (auto put = std::find_if(puts_.begin(), puts_.end(), is_it); put != puts_.end()) {
    FinishPut(std::move(*put), Cancelled("Enqueue operation was cancelled"), &finished);
    puts_.erase(put);
  } else if (auto take = std::find_if(takes_.begin(), takes_.end(), is_it); take != takes_.end()) {
    FinishTake(std::move(*take), Cancelled("Dequeue operation was cancelled"), &finished);
    takes_.erase(take);
  } else {
    return;  // ended meanwhile
  }
  Progress(&finished);  // others may have waited behind it
}

void Queue::FinishPut(Put put, Status status, Finished* finished) {
  finished->Add(put, [done = std::move(put.done), status = std::move(status)] { done(status); });
}

void Queue::FinishTake(Take take, Status status, Finished* finished) {
  if (!status.ok()) {
    elements_->Return(std::move(take.taken));
    finished->Add(take, [done = std::move(take.done), status = std::move(status)] { done(status, {}); });
    return;
  }
  // Stacking copies: not under the lock.
  finished->Add(take, [self = shared_from_this(), is_batch = take.is_batch, done = std::move(take.done), taken = std::move(take.taken)]() mutable {
    if (!is_batch) return done(OkStatus(), std::move(taken[0]));
    StatusOr<Tuple> stacked = StackElements(taken, self->spec_.types, self->spec_.shapes);
    stacked.ok() ? done(OkStatus(), *std::move(stacked)) : done(stacked.status(), {});
  });
}

void Queue::Progress(Finished* finished) {
  bool is_moving = true;
  while (is_moving) {
    is_moving = ProgressPuts(finished);
    is_moving |= ProgressTakes(finished);
  }
}

bool Queue::ProgressPuts(Finished* finished) {
  bool is_moving = false;
  while (!puts_.empty()) {
    Put& put = puts_.front();
    Status status;
    if (put.is_close) {
      if (is_closed_) status = Cancelled("Queue '", name_, "' is already closed.");
      is_closed_ = true;
    } else if (is_closed_) {
      status = ClosedError();
    } else {
      for (; put.next_row < put.row_count && (spec_.capacity < 0 || elements_->size() < spec_.capacity); ++put.next_row, is_moving = true) {
        elements_->Put(put.is_batch ? ElementAt(put.batch, put.next_row) : std::move(put.batch));
      }
      if (put.next_row < put.row_count) return is_moving;  // full
    }
    Put ended = std::move(put);
    puts_.pop_front();
    FinishPut(std::move(ended), std::move(status), finished);
    is_moving = true;
  }
  return is_moving;
}

bool Queue::ProgressTakes(Finished* finished) {
  bool is_moving = false;
  while (!takes_.empty()) {
    Take& take = takes_.front();
    const auto taken = [&take] { return static_cast<int64_t>(take.taken.size()); };
    const int64_t kept = is_closed_ ? 0 : spec_.min_after_dequeue;
    Status status;
    if (is_closed_ && taken() + elements_->size() < take.count) {
      if (take.allows_fewer && taken() + elements_->size() > 0) {
        take.count = taken() + elements_->size();
      } else {
        status = OutOfRange(spec_.kind, " '", name_, "' is closed and has insufficient elements (requested ", take.count, ", current size ",
                            taken() + elements_->size(), ")");
      }
    }
    if (status.ok()) {
      for (; taken() < take.count && elements_->size() > kept; is_moving = true) take.taken.push_back(elements_->Take());
      if (taken() < take.count) return is_moving;  // not enough yet
    }
    Take ended = std::move(take);
    takes_.pop_front();
    FinishTake(std::move(ended), std::move(status), finished);
    is_moving = true;
  }
  return is_moving;
}

}  // namespace tandem
