// Binary element-wise ops: an op is a functor `R operator()(T x, T y) const`; this file loops it over broadcast operands.
//
//   struct Subtract { template <typename T> T operator()(T x, T y) const { return x - y; } };
//   … BinaryOp("Sub").Attr("T: ARITH").Cpu(BinaryKernels<Subtract, float, Half>()) …
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "graph/op.h"
#include "graph/shape_inference.h"

namespace tandem {

// A block of the innermost two loops. Operands advance by 0 or 1 elements per column; at least one by 1.
struct BinaryLoop {
  const void* x;
  const void* y;
  void* out;  // may be x or y
  int64_t rows, columns;
  int64_t x_row_stride, y_row_stride;  // elements
  bool is_x_fixed, is_y_fixed;         // within a row
};

template <typename F, typename T>
void RunBinaryLoop(const BinaryLoop& loop) {
  using R = decltype(F{}(std::declval<T>(), std::declval<T>()));
  const F f;
  const T* x = static_cast<const T*>(loop.x);
  const T* y = static_cast<const T*>(loop.y);
  R* out = static_cast<R*>(loop.out);
  const int64_t n = loop.columns;
  for (int64_t row = 0; row < loop.rows; ++row, x += loop.x_row_stride, y += loop.y_row_stride, out += n) {
    if (loop.is_x_fixed) {
      const T fixed = *x;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = f(fixed, y[i]);
    } else if (loop.is_y_fixed) {
      const T fixed = *y;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = f(x[i], fixed);
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = f(x[i], y[i]);
    }
  }
}

using BinaryFunction = void (*)(const BinaryLoop&);

struct BinaryOptions {
  Status (*check)(const Tensor& x, const Tensor& y, const Shape& out) = nullptr;  // before computing
  bool is_swapped = false;                                                        // computes f(y, x)
  // With attr incompatible_shape_error = false: the scalar result for shapes that do not fit.
  std::optional<bool> result_if_incompatible;
};

// Half and bfloat16 operands are widened to float, so their `function` is the one for float.
KernelFactory MakeBinaryKernel(BinaryFunction function, const BinaryOptions& options);

// The type that computes T's: float for half and bfloat16, and, if F::kWraps, unsigned integers, whose overflow is defined.
template <typename F, typename T>
struct ComputeTypeOf {
  static constexpr bool kIsUnsigned = [] {
    if constexpr (requires { F::kWraps; }) return std::is_integral_v<T>;
    return false;
  }();
  using type = typename std::conditional_t<kIsUnsigned, std::make_unsigned<T>, std::type_identity<T>>::type;
};
template <typename F>
struct ComputeTypeOf<F, Half> : std::type_identity<float> {};
template <typename F>
struct ComputeTypeOf<F, BFloat16> : std::type_identity<float> {};
template <typename F>
struct ComputeTypeOf<F, bool> : std::type_identity<bool> {};

template <typename F, typename... Ts>
KernelSet BinaryKernels(BinaryOptions options = {}, std::string attr = "T") {
  return {std::move(attr), {{DataTypeOf<Ts>::value, MakeBinaryKernel(&RunBinaryLoop<F, typename ComputeTypeOf<F, Ts>::type>, options)}...}};
}

template <typename F>
KernelSet BinaryKernelsForReal(BinaryOptions options = {}) {
  return BinaryKernels<F, float, double, int32_t, uint8_t, int16_t, int8_t, int64_t, BFloat16, uint16_t, Half, uint32_t, uint64_t>(options);
}
template <typename F>
KernelSet BinaryKernelsForArithmetic(BinaryOptions options = {}) {
  return BinaryKernels<F, float, double, int32_t, uint8_t, int16_t, int8_t, int64_t, BFloat16, uint16_t, Half, uint32_t, uint64_t, std::complex<float>,
                       std::complex<double>>(options);
}
template <typename F>
KernelSet BinaryKernelsForIntegers(BinaryOptions options = {}) {
  return BinaryKernels<F, int32_t, uint8_t, int16_t, int8_t, int64_t, uint16_t, uint32_t, uint64_t>(options);
}
template <typename F>
KernelSet BinaryKernelsForFloating() {
  return BinaryKernels<F, Half, BFloat16, float, double>();
}
template <typename F>
KernelSet BinaryKernelsForFloatingAndComplex() {
  return BinaryKernels<F, Half, BFloat16, float, double, std::complex<float>, std::complex<double>>();
}

// "x: T", "y: T", "z: T" with broadcasting; the caller adds the attr, kernels and gradient.
inline OpBuilder BinaryOp(const char* name) { return OpBuilder(name).Input("x: T").Input("y: T").Output("z: T").Shape(Broadcast); }

}  // namespace tandem
