// Sums, differences and products of two tensors. Integers wrap around, as in TensorFlow.
#include <algorithm>
#include <complex>
#include <string>

#include "graph/gradient.h"
#include "ops/math/binary.h"
#include "ops/math/gradients.h"

namespace tandem {
namespace {

struct Plus {
  static constexpr bool kWraps = true;
  template <typename T>
  T operator()(const T& x, const T& y) const {
    return x + y;
  }
};
struct Minus {
  static constexpr bool kWraps = true;
  template <typename T>
  T operator()(const T& x, const T& y) const {
    return x - y;
  }
};
struct Times {
  static constexpr bool kWraps = true;
  template <typename T>
  T operator()(const T& x, const T& y) const {
    if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(uint32_t)) return uint32_t{x} * uint32_t{y};  // uint16 would promote to int
    return x * y;
  }
  // Without the recovery of infinities from NaN (C's Annex G), as Eigen multiplies.
  template <typename T>
  std::complex<T> operator()(const std::complex<T>& x, const std::complex<T>& y) const {
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
  }
};
struct DifferenceSquared {
  static constexpr bool kWraps = true;
  template <typename T>
  T operator()(const T& x, const T& y) const {
    const T difference = x - y;
    return Times()(difference, difference);
  }
  template <typename T>
  std::complex<T> operator()(const std::complex<T>& x, const std::complex<T>& y) const {
    const std::complex<T> difference = x - y;
    return std::norm(difference);  // d · conj(d)
  }
};
// NaN if either is; x if both are equal (so of 0 and -0 the first).
struct Larger {
  template <typename T>
  T operator()(T x, T y) const {
    return x < y || y != y ? y : x;
  }
};
struct Smaller {
  template <typename T>
  T operator()(T x, T y) const {
    return y < x || y != y ? y : x;
  }
};
struct TimesNoNan {  // 0 where y is 0, even for an infinite or NaN x
  template <typename T>
  T operator()(const T& x, const T& y) const {
    return y == T(0) ? T(0) : Times()(x, y);
  }
};

Status AddGradient(GradientScope& g) {
  auto [x, y] = g.ReduceBroadcast(g.grad(0), g.grad(0), g.input(0), g.input(1));
  return g.Return({x, y});
}

Status SubGradient(GradientScope& g) {
  auto [x, y] = g.ReduceBroadcast(g.grad(0), g.Neg(g.grad(0)), g.input(0), g.input(1));
  return g.Return({x, y});
}

Status MulGradient(GradientScope& g) {
  const Output x = Conjugate(g, g.input(0)), y = Conjugate(g, g.input(1));
  auto [dx, dy] = g.ReduceBroadcast(g.Mul(g.grad(0), y), g.Mul(x, g.grad(0)), g.input(0), g.input(1));
  return g.Return({dx, dy});
}

Status MulNoNanGradient(GradientScope& g) {
  auto [dx, dy] = g.ReduceBroadcast(g.Op("MulNoNan", {g.grad(0), g.input(1)}), g.Op("MulNoNan", {g.input(0), g.grad(0)}), g.input(0), g.input(1));
  return g.Return({dx, dy});
}

Status SquaredDifferenceGradient(GradientScope& g) {
  const Output dx = g.Mul(g.Mul(g.Scalar(2, g.input(0)), g.grad(0)), g.Sub(g.input(0), g.input(1)));
  auto [x, y] = g.ReduceBroadcast(dx, g.Neg(dx), g.input(0), g.input(1));
  return g.Return({x, y});
}

// All of the gradient goes to the chosen operand, to x where both are equal.
Status ChoiceGradient(GradientScope& g, const char* x_is_chosen) {
  const Output mask = g.Op(x_is_chosen, {g.input(0), g.input(1)});
  const Output zero = g.Scalar(0, g.input(0));
  auto [x, y] = g.ReduceBroadcast(g.Op("SelectV2", {mask, g.grad(0), zero}), g.Op("SelectV2", {mask, zero, g.grad(0)}), g.input(0), g.input(1));
  return g.Return({x, y});
}
Status MaximumGradient(GradientScope& g) { return ChoiceGradient(g, "GreaterEqual"); }
Status MinimumGradient(GradientScope& g) { return ChoiceGradient(g, "LessEqual"); }

const OpRegistrar kOps[] = {
    BinaryOp("Add")
        .Attr("T: {float, double, int32, uint8, int16, int8, string, complex64, int64, bfloat16, complex128, half}")
        .Cpu(BinaryKernels<Plus, float, double, int32_t, uint8_t, int16_t, int8_t, std::string, std::complex<float>, int64_t, BFloat16, std::complex<double>,
                           Half>())
        .Gradient(AddGradient),
    BinaryOp("AddV2").Attr("T: ARITH").Commutative().Aggregate().Cpu(BinaryKernelsForArithmetic<Plus>()).Gradient(AddGradient),
    BinaryOp("Sub").Attr("T: ARITH").Cpu(BinaryKernelsForArithmetic<Minus>()).Gradient(SubGradient),
    BinaryOp("Mul").Attr("T: ARITH").Commutative().Cpu(BinaryKernelsForArithmetic<Times>()).Gradient(MulGradient),
    BinaryOp("MulNoNan").Attr("T: FC").Cpu(BinaryKernelsForFloatingAndComplex<TimesNoNan>()).Gradient(MulNoNanGradient),
    BinaryOp("SquaredDifference")
        .Attr("T: {float, double, int32, complex64, int64, bfloat16, complex128, half}")
        .Commutative()
        .Cpu(BinaryKernels<DifferenceSquared, float, double, int32_t, std::complex<float>, int64_t, BFloat16, std::complex<double>, Half>())
        .Gradient(SquaredDifferenceGradient),
    BinaryOp("Maximum").Attr("T: REAL").Cpu(BinaryKernelsForReal<Larger>()).Gradient(MaximumGradient),
    BinaryOp("Minimum").Attr("T: REAL").Cpu(BinaryKernelsForReal<Smaller>()).Gradient(MinimumGradient),
};

}  // namespace
}  // namespace tandem
