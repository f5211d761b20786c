// Unary element-wise ops: an op is a functor `R operator()(T x) const`, looped over contiguous elements.
#pragma once

#include <cstdint>
#include <utility>

#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/math/binary.h"

namespace tandem {

using UnaryFunction = void (*)(const void* x, void* out, int64_t count);

template <typename F, typename T>
void RunUnaryLoop(const void* x, void* out, int64_t count) {
  using R = decltype(F{}(std::declval<T>()));
  const F f;
  const T* from = static_cast<const T*>(x);
  R* to = static_cast<R*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) to[i] = f(from[i]);
}

// Half and bfloat16 inputs are widened to float, so their `function` is the one for float.
KernelFactory MakeUnaryKernel(UnaryFunction function);

template <typename F, typename... Ts>
KernelSet UnaryKernels() {
  return {"T", {{DataTypeOf<Ts>::value, MakeUnaryKernel(&RunUnaryLoop<F, typename ComputeTypeOf<F, Ts>::type>)}...}};
}
template <typename F>
KernelSet UnaryKernelsForFloating() {
  return UnaryKernels<F, Half, BFloat16, float, double>();
}
template <typename F>
KernelSet UnaryKernelsForFloatingAndComplex() {
  return UnaryKernels<F, Half, BFloat16, float, double, std::complex<float>, std::complex<double>>();
}
// Floating, signed integers and complex: Neg, Sign, Reciprocal and kin.
template <typename F>
KernelSet UnaryKernelsForSigned() {
  return UnaryKernels<F, Half, BFloat16, float, double, int8_t, int16_t, int32_t, int64_t, std::complex<float>, std::complex<double>>();
}

inline OpBuilder UnaryOp(const char* name) { return OpBuilder(name).Input("x: T").Output("y: T").Shape(SameAsInput0); }

}  // namespace tandem
