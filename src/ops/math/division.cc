// Quotients and remainders. Integers: a zero anywhere in a divisor that is used is an error, and the one quotient that overflows
// (smallest / -1) wraps around instead of trapping.
#include <cmath>
#include <complex>

#include "graph/gradient.h"
#include "ops/math/binary.h"
#include "ops/math/gradients.h"

namespace tandem {
namespace {

template <typename T>
T WrappingQuotient(T x, T y) {
  if constexpr (std::is_signed_v<T>) {
    if (y == T(-1)) return static_cast<T>(-static_cast<std::make_unsigned_t<T>>(x));
  }
  return x / y;
}
template <typename T>
T WrappingRemainder(T x, T y) {
  if constexpr (std::is_signed_v<T>) {
    if (y == T(-1)) return 0;
  }
  return x % y;
}

struct Quotient {
  template <typename T>
  T operator()(const T& x, const T& y) const {
    if constexpr (std::is_integral_v<T>) {
      return WrappingQuotient(x, y);
    } else {
      return x / y;
    }
  }
};
struct FloorQuotient {
  template <typename T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      const T quotient = WrappingQuotient(x, y);
      return (x < 0) != (y < 0) && WrappingRemainder(x, y) != 0 ? quotient - 1 : quotient;
    } else {
      return std::floor(x / y);
    }
  }
};
struct TruncatedRemainder {  // has the sign of x
  template <typename T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      return WrappingRemainder(x, y);
    } else {
      return std::fmod(x, y);
    }
  }
};
struct FloorRemainder {  // has the sign of y
  template <typename T>
  T operator()(T x, T y) const {
    const T remainder = TruncatedRemainder()(x, y);
    return remainder != 0 && (remainder < 0) != (y < 0) ? remainder + y : remainder;
  }
};
struct QuotientNoNan {  // 0 where y is 0
  template <typename T>
  T operator()(const T& x, const T& y) const {
    return y == T(0) ? T(0) : x / y;
  }
};

Status NoZeroDivisor(const Tensor& x, const Tensor& y, const Shape& out) {
  if (out.num_elements() == 0) return OkStatus();
  const size_t size = DataTypeSize(y.dtype());
  const char* bytes = static_cast<const char*>(y.raw_data());
  const int64_t count = y.num_elements();
  const auto has_zero = [&]<typename U>(U) {
    const U* values = reinterpret_cast<const U*>(bytes);
    bool found = false;
    for (int64_t i = 0; i < count; ++i) found |= values[i] == 0;
    return found;
  };
  const bool found = size == 1 ? has_zero(uint8_t{}) : size == 2 ? has_zero(uint16_t{}) : size == 4 ? has_zero(uint32_t{}) : has_zero(uint64_t{});
  return found ? InvalidArgument("Integer division by zero") : OkStatus();
}

template <typename F>
KernelSet IntegerKernels() {
  return BinaryKernelsForIntegers<F>({.check = NoZeroDivisor});
}

// d(x/y) = dx/y − x/y² dy, with the division that the op itself uses.
Status QuotientGradient(GradientScope& g, const char* divide) {
  const Output x = Conjugate(g, g.input(0)), y = Conjugate(g, g.input(1));
  const Output dx = g.Op(divide, {g.grad(0), y});
  const Output dy = g.Mul(g.grad(0), g.Op(divide, {g.Op(divide, {g.Neg(x), y}), y}));
  auto [reduced_x, reduced_y] = g.ReduceBroadcast(dx, dy, g.input(0), g.input(1));
  return g.Return({reduced_x, reduced_y});
}
Status DivGradient(GradientScope& g) { return QuotientGradient(g, "Div"); }
Status RealDivGradient(GradientScope& g) { return QuotientGradient(g, "RealDiv"); }
Status DivNoNanGradient(GradientScope& g) { return QuotientGradient(g, "DivNoNan"); }

// x mod y = x − y·(x div y), and the quotient is constant almost everywhere.
Status FloorModGradient(GradientScope& g) {
  const Output dy = g.Mul(g.grad(0), g.Neg(g.Op("FloorDiv", {g.input(0), g.input(1)})));
  auto [x, y] = g.ReduceBroadcast(g.grad(0), dy, g.input(0), g.input(1));
  return g.Return({x, y});
}

const char kRemainderTypes[] = "T: {float, double, int32, int64, bfloat16, half}";

template <typename F>
OpBuilder RemainderOp(const char* name) {
  return BinaryOp(name).Attr(kRemainderTypes).Cpu(BinaryKernelsForFloating<F>()).Cpu(BinaryKernels<F, int32_t, int64_t>({.check = NoZeroDivisor}));
}

const OpRegistrar kOps[] = {
    BinaryOp("Div").Attr("T: ARITH").Cpu(BinaryKernelsForFloatingAndComplex<Quotient>()).Cpu(IntegerKernels<Quotient>()).Gradient(DivGradient),
    BinaryOp("RealDiv").Attr("T: ARITH").Cpu(BinaryKernelsForFloatingAndComplex<Quotient>()).Gradient(RealDivGradient),
    BinaryOp("TruncateDiv").Attr("T: ARITH").Cpu(IntegerKernels<Quotient>()).NoGradient(),
    BinaryOp("FloorDiv").Attr("T: ARITH").Cpu(BinaryKernelsForFloating<FloorQuotient>()).Cpu(IntegerKernels<FloorQuotient>()).NoGradient(),
    BinaryOp("DivNoNan").Attr("T: FC").Cpu(BinaryKernelsForFloatingAndComplex<QuotientNoNan>()).Gradient(DivNoNanGradient),
    BinaryOp("FloorMod").Attr("T: REAL").Cpu(BinaryKernelsForFloating<FloorRemainder>()).Cpu(IntegerKernels<FloorRemainder>()).Gradient(FloorModGradient),
    RemainderOp<TruncatedRemainder>("TruncateMod"),
    RemainderOp<TruncatedRemainder>("Mod"),
};

}  // namespace
}  // namespace tandem
