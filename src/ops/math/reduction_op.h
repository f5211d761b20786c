// What the ops that reduce share: definition, kernel and gradients.
#pragma once

#include <type_traits>

#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/math/binary.h"
#include "ops/math/reduction_loops.h"

namespace tandem {

// Half and bfloat16 are widened to float, so their `function` is the one for float. `finish` (may be null) changes the folded
// values in place, knowing how many elements each of them is made of; it is not called if nothing was folded.
using FinishFunction = void (*)(Tensor* folded, int64_t count);
KernelFactory MakeReductionKernel(ReduceFunction function, FinishFunction finish = nullptr);

template <typename F, typename... Ts>
KernelSet ReductionKernels(FinishFunction finish = nullptr) {
  return {"T", {{DataTypeOf<Ts>::value, MakeReductionKernel(&RunReduceLoop<F, typename ComputeTypeOf<F, Ts>::type>, finish)}...}};
}

inline OpBuilder ReductionOp(const char* name) {
  return OpBuilder(name)
      .Input("input: T")
      .Input("reduction_indices: Tidx")
      .Output("output: T")
      .Attr("keep_dims: bool = false")
      .Attr("Tidx: IDX = int32")
      .Shape(Reduction);
}

struct AddUp {
  static constexpr bool kWraps = true;
  template <typename T>
  static T Identity() {
    return T(0);
  }
  template <typename T>
  T operator()(const T& folded, const T& next) const {
    return folded + next;
  }
};

}  // namespace tandem
