// Powers, and products with logarithms and quotients that are 0 where their first operand is.
#include <cmath>
#include <complex>

#include "graph/gradient.h"
#include "ops/math/binary.h"
#include "ops/math/gradients.h"

namespace tandem {
namespace {

struct Power {
  static constexpr bool kWraps = true;
  template <typename T>
  T operator()(const T& x, const T& y) const {
    if constexpr (std::is_integral_v<T>) {
      uint64_t result = 1, factor = x;  // wraps modulo 2^64, and so modulo the size of T
      for (T rest = y; rest != 0; rest >>= 1, factor *= factor) {
        if (rest & 1) result *= factor;
      }
      return static_cast<T>(result);
    } else {
      return std::pow(x, y);
    }
  }
};

template <typename T>
T Log1pOf(const T& x) {
  return std::log1p(x);
}
template <typename T>
std::complex<T> Log1pOf(const std::complex<T>& x) {
  return {std::log1p(x.real() * (2 + x.real()) + x.imag() * x.imag()) / 2, std::atan2(x.imag(), 1 + x.real())};
}

struct XDividedByY {
  template <typename T>
  T operator()(const T& x, const T& y) const {
    return x == T(0) ? T(0) : x / y;
  }
};
struct XTimesLogY {
  template <typename T>
  T operator()(const T& x, const T& y) const {
    return x == T(0) ? T(0) : x * std::log(y);
  }
};
struct XTimesLog1pY {
  template <typename T>
  T operator()(const T& x, const T& y) const {
    return x == T(0) ? T(0) : x * Log1pOf(y);
  }
};

template <typename T>
bool HasNegative(const Tensor& x) {
  for (const T& value : x.values<T>()) {
    if (value < 0) return true;
  }
  return false;
}

Status NoNegativeExponent(const Tensor& x, const Tensor& y, const Shape& out) {
  if (out.num_elements() == 0) return OkStatus();
  bool found = false;
  switch (y.dtype()) {
    case kInt8:
      found = HasNegative<int8_t>(y);
      break;
    case kInt16:
      found = HasNegative<int16_t>(y);
      break;
    case kInt32:
      found = HasNegative<int32_t>(y);
      break;
    case kInt64:
      found = HasNegative<int64_t>(y);
      break;
    default:
      break;
  }
  return found ? InvalidArgument("Integers to negative integer powers are not allowed") : OkStatus();
}

// d x^y = y x^(y−1) dx + x^y ln x dy, and the second term is taken as 0 where ln x is not real.
Status PowGradient(GradientScope& g) {
  const Output x = Conjugate(g, g.input(0)), y = Conjugate(g, g.input(1)), z = Conjugate(g, g.output(0));
  const Output one = g.Scalar(1, g.input(0)), zero = g.Scalar(0, g.input(0));
  const Output dx = g.Mul(g.Mul(g.grad(0), y), g.Op("Pow", {x, g.Sub(y, one)}));
  const Output has_log = g.Op(IsComplex(g.input(0).dtype()) ? "NotEqual" : "Greater", {x, zero});
  const Output log = g.Op("SelectV2", {has_log, g.Op("Log", {g.Op("SelectV2", {has_log, x, one})}), zero});
  const Output dy = g.Mul(g.Mul(g.grad(0), z), log);
  auto [reduced_x, reduced_y] = g.ReduceBroadcast(dx, dy, g.input(0), g.input(1));
  return g.Return({reduced_x, reduced_y});
}

// 1 where x is not 0.
Output IsNotZero(GradientScope& g) { return g.Op("Cast", {g.Op("NotEqual", {g.input(0), g.Scalar(0, g.input(0))})}, {{"DstT", g.input(0).dtype()}}); }

Status ReturnScaled(GradientScope& g, const Output& slope_x, const Output& slope_y) {
  auto [dx, dy] = g.ReduceBroadcast(g.Mul(slope_x, g.grad(0)), g.Mul(slope_y, g.grad(0)), g.input(0), g.input(1));
  return g.Return({dx, dy});
}
Status XdivyGradient(GradientScope& g) {
  return ReturnScaled(g, g.Op("Xdivy", {IsNotZero(g), g.input(1)}), g.Op("Xdivy", {g.Neg(g.input(0)), g.Op("Square", {g.input(1)})}));
}
Status XlogyGradient(GradientScope& g) { return ReturnScaled(g, g.Op("Xlogy", {IsNotZero(g), g.input(1)}), g.Op("Xdivy", {g.input(0), g.input(1)})); }
Status Xlog1pyGradient(GradientScope& g) {
  return ReturnScaled(g, g.Op("Xlog1py", {IsNotZero(g), g.input(1)}), g.Op("Xdivy", {g.input(0), g.Add(g.input(1), g.Scalar(1, g.input(1)))}));
}

const OpRegistrar kOps[] = {
    BinaryOp("Pow")
        .Attr("T: {float, double, int32, int16, int8, complex64, int64, bfloat16, complex128, half}")
        .Cpu(BinaryKernelsForFloatingAndComplex<Power>())
        .Cpu(BinaryKernels<Power, int32_t, int16_t, int8_t, int64_t>({.check = NoNegativeExponent}))
        .Gradient(PowGradient),
    BinaryOp("Xdivy").Attr("T: FC").Cpu(BinaryKernelsForFloatingAndComplex<XDividedByY>()).Gradient(XdivyGradient),
    BinaryOp("Xlogy").Attr("T: FC").Cpu(BinaryKernelsForFloatingAndComplex<XTimesLogY>()).Gradient(XlogyGradient),
    BinaryOp("Xlog1py").Attr("T: FC").Cpu(BinaryKernelsForFloatingAndComplex<XTimesLog1pY>()).Gradient(Xlog1pyGradient),
};

}  // namespace
}  // namespace tandem
