// A queue of tuples with a capacity. Who cannot go on waits without a thread: a callback tells the end.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "core/cancellation.h"
#include "core/mutex.h"
#include "kernel/resource.h"
#include "ops/queue/element_store.h"
#include "ops/queue/waiting.h"
#include "tandem/tensor.h"

namespace tandem {

struct QueueSpec {
  std::string kind;                  // "FIFOQueue", "RandomShuffleQueue", "PaddingFIFOQueue", "PriorityQueue"
  std::vector<DataType> types;       // of the components; a priority queue's first one is int64
  std::vector<PartialShape> shapes;  // of the components of one element; empty: any
  int64_t capacity = -1;             // in elements; negative: unlimited
  int64_t min_after_dequeue = 0;     // elements that stay for shuffling until the queue is closed
  int64_t seed = 0, seed2 = 0;
};

// Thread-safe. Callbacks run exactly once, without a lock, on the thread that makes the outcome known, which may be the caller's.
// Requests of one kind are served in order. A request whose step is cancelled ends with Cancelled.
class Queue : public Resource, public std::enable_shared_from_this<Queue> {
 public:
  static constexpr char kTypeName[] = "a queue";
  using Done = std::function<void(const Status&)>;
  using TupleDone = std::function<void(const Status&, Tuple)>;

  Queue(std::string name, QueueSpec spec);

  const std::string& name() const { return name_; }
  const QueueSpec& spec() const { return spec_; }
  std::string Describe() const override;
  // InvalidArgument "Shared queue 'N' has capacity 5 but requested capacity was 7" and the like.
  Status CheckSame(const QueueSpec& wanted) const;

  // Waits for room. Cancelled if the queue is closed. InvalidArgument if types or shapes do not fit.
  void Enqueue(Tuple element, Cancellation* cancellation, Done done);
  // The rows of `batch`, one after another as room comes.
  void EnqueueMany(Tuple batch, Cancellation* cancellation, Done done);
  // Waits for an element. OutOfRange if the queue is closed and empty.
  void Dequeue(Cancellation* cancellation, TupleDone done);
  // Waits for `count` elements and gives them as rows of one tensor per component; a padding queue fills up with zeros. If the queue is
  // closed and has fewer: what is left, at least one, if `allows_fewer`; else OutOfRange, and they stay.
  void DequeueMany(int64_t count, bool allows_fewer, Cancellation* cancellation, TupleDone done);
  // Takes effect when the enqueues that wait now have ended: by themselves, or at once as Cancelled if `cancels_pending`.
  void Close(bool cancels_pending, Cancellation* cancellation, Done done);

  int64_t size() const;
  bool is_closed() const;

 private:
  struct Put : Waiter {
    bool is_close = false;
    Tuple batch;           // rows
    bool is_batch = false; // else one element
    int64_t next_row = 0, row_count = 1;
    Done done;
  };
  struct Take : Waiter {
    bool is_batch = false, allows_fewer = false;
    int64_t count = 1;
    std::vector<Tuple> taken;
    TupleDone done;
  };

  Status CheckTypes(const Tuple& tuple) const;
  Status CheckElement(const Tuple& element) const;
  Status CheckBatch(const Tuple& batch) const;
  Status ClosedError() const;

  void AddPut(Put put, Cancellation* cancellation);
  void AddTake(Take take, Cancellation* cancellation);
  // Lets all who can go on.
  void Progress(Finished* finished) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool ProgressPuts(Finished* finished) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool ProgressTakes(Finished* finished) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void FinishPut(Put put, Status status, Finished* finished) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void FinishTake(Take take, Status status, Finished* finished) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CancelWaiter(int64_t id);
  // False if the step was cancelled already.
  bool Listen(Waiter* waiter, Cancellation* cancellation) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string name_;
  const QueueSpec spec_;
  mutable Mutex mu_;
  const std::unique_ptr<ElementStore> elements_ ABSL_PT_GUARDED_BY(mu_);
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
  int64_t next_id_ ABSL_GUARDED_BY(mu_) = 1;
  std::list<Put> puts_ ABSL_GUARDED_BY(mu_);
  std::list<Take> takes_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tandem
