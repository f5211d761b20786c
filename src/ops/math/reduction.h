// Reductions: a tensor is folded along some of its dimensions. Neighbouring dimensions that are folded alike become one, and one
// such group is folded at a time, from the last to the first.
#pragma once

#include <cstdint>
#include <vector>

#include "core/status.h"
#include "tandem/tensor.h"

namespace tandem {

// x[outer, count, inner] is folded to out[outer, inner]. `count` may be 0: the identity.
struct ReduceLoop {
  const void* x;
  void* out;
  int64_t outer, count, inner;
};
using ReduceFunction = void (*)(const ReduceLoop&);

// What axes make of a shape.
struct ReductionPlan {
  std::vector<bool> is_reduced;  // by dimension
  Shape output;
  int64_t count = 1;  // elements of the input per element of the output; 0 if the input has none
};

// `axes` is int32 or int64, of any shape; negative ones count from the end. InvalidArgument for an axis out of range or twice.
StatusOr<ReductionPlan> PlanReduction(const Shape& input, const Tensor& axes, bool keep_dims);

// `x` folded as planned; x itself, shared, if nothing is to be folded.
StatusOr<Tensor> Reduce(const Tensor& x, const ReductionPlan& plan, ReduceFunction function);

}  // namespace tandem
