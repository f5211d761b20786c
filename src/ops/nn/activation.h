// Element-wise ops of one tensor (activations), or of two of equal shape (their gradients). A rule is a functor on one element, built
// from the node's attrs if it has such a constructor; half and bfloat16 compute in float.
#pragma once

#include <cstdint>
#include <type_traits>

#include "graph/op.h"
#include "graph/shape_inference.h"

namespace tandem {

template <typename T>
using ComputeType = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

template <typename Rule>
Rule MakeRule(const Attrs& attrs) {
  if constexpr (std::is_constructible_v<Rule, const Attrs&>) {
    return Rule(attrs);
  } else {
    return Rule();
  }
}

template <typename Rule>
struct Activation {
  explicit Activation(const Attrs& attrs) : rule(MakeRule<Rule>(attrs)) {}

  template <typename T>
  Status Run(KernelContext& ctx) const {
    const Tensor& x = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor * y, ctx.ForwardOrAllocate({0}, 0, x.shape()));
    const T* from = x.data<T>();
    T* to = y->mutable_data<T>();
    const Rule f = rule;
    const int64_t count = y->num_elements();
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(f(static_cast<ComputeType<T>>(from[i])));
    return OkStatus();
  }

  const Rule rule;
};

Status CheckEqualShapes(const KernelContext& ctx);  // of inputs 0 and 1

// Inputs: the gradient of the output, and the activation's input or output.
template <typename Rule>
struct ActivationGradient {
  explicit ActivationGradient(const Attrs& attrs) : rule(MakeRule<Rule>(attrs)) {}

  template <typename T>
  Status Run(KernelContext& ctx) const {
    RETURN_IF_ERROR(CheckEqualShapes(ctx));
    const Tensor &gradient = ctx.input(0), &feature = ctx.input(1);
    ASSIGN_OR_RETURN(Tensor * result, ctx.ForwardOrAllocate({0, 1}, 0, gradient.shape()));
    const T* g = gradient.data<T>();
    const T* x = feature.data<T>();
    T* to = result->mutable_data<T>();
    const Rule f = rule;
    const int64_t count = result->num_elements();
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(f(static_cast<ComputeType<T>>(g[i]), static_cast<ComputeType<T>>(x[i])));
    return OkStatus();
  }

  const Rule rule;
};

// The shape that both inputs have. InvalidArgument if they differ.
Status SameAsBothInputs(ShapeContext& ctx);

}  // namespace tandem
