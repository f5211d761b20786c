// Conditional accumulators: gradients of several workers are added up until enough have come; late ones are dropped.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "core/cancellation.h"
#include "core/mutex.h"
#include "kernel/resource.h"
#include "ops/queue/waiting.h"
#include "tandem/tensor.h"

namespace tandem {

struct AccumulatorSpec {
  DataType dtype = kFloat;
  PartialShape shape;
  bool is_mean = true;  // else the sum
  bool is_sparse = false;
};

// One gradient, or what several came to. Sparse: row i of `values` belongs to row indices[i] of the variable.
struct AccumulatedGradient {
  Tensor indices;  // int64 vector; no value if dense
  Tensor values;
};

// The numbers themselves. Not thread-safe.
class GradientSum {
 public:
  virtual ~GradientSum() = default;
  // InvalidArgument if the gradient fits neither the declared shape nor those that came before.
  virtual Status Check(const AccumulatedGradient& gradient) const = 0;
  // Takes over the buffers of `gradient` where nobody else sees them. ResourceExhausted without memory; then nothing changed.
  virtual Status Add(AccumulatedGradient gradient) = 0;
  // What was added since the last call, for the mean divided by `count` (sparse: each row by how many gradients had it).
  virtual StatusOr<AccumulatedGradient> Take(int64_t count, bool is_mean) = 0;
};
std::unique_ptr<GradientSum> MakeDenseSum(const AccumulatorSpec& spec);
std::unique_ptr<GradientSum> MakeSparseSum(const AccumulatorSpec& spec);

// Thread-safe.
class Accumulator : public Resource, public std::enable_shared_from_this<Accumulator> {
 public:
  static constexpr char kTypeName[] = "an accumulator";
  using TakeDone = std::function<void(const Status&, AccumulatedGradient)>;

  Accumulator(std::string name, AccumulatorSpec spec);

  const std::string& name() const { return name_; }
  const AccumulatorSpec& spec() const { return spec_; }
  std::string Describe() const override;
  // InvalidArgument if an accumulator of that kind cannot be this one.
  Status CheckSame(const AccumulatorSpec& wanted) const;

  // A gradient that was computed before the accumulator's global step is dropped without an error.
  Status Apply(int64_t local_step, AccumulatedGradient gradient);
  // Waits until `count` gradients have come; then the global step rises by one and counting starts anew. Requests are served in
  // order. `done` runs exactly once, without a lock, perhaps on the thread of the last Apply. Cancelled with the step.
  void Take(int32_t count, Cancellation* cancellation, TakeDone done);
  void SetGlobalStep(int64_t step);
  int32_t num_accumulated() const;

 private:
  struct Request : Waiter {
    int32_t count = 0;
    TakeDone done;
  };
  void Serve(Finished* finished) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CancelWaiter(int64_t id);

  const std::string name_;
  const AccumulatorSpec spec_;
  mutable Mutex mu_;
  const std::unique_ptr<GradientSum> sum_ ABSL_PT_GUARDED_BY(mu_);
  int64_t global_step_ ABSL_GUARDED_BY(mu_) = 0;
  int32_t count_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t next_id_ ABSL_GUARDED_BY(mu_) = 1;
  std::list<Request> requests_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tandem
