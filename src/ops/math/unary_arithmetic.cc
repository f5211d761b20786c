// Signs, squares, roots, reciprocals and rounding of one tensor.
#include <cmath>
#include <complex>

#include "graph/gradient.h"
#include "ops/math/gradients.h"
#include "ops/math/unary.h"

namespace tandem {
namespace {

struct Negative {
  static constexpr bool kWraps = true;
  template <typename T>
  T operator()(const T& x) const {
    return -x;
  }
};
struct Magnitude {
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return x < 0 ? static_cast<T>(-static_cast<std::make_unsigned_t<T>>(x)) : x;  // the smallest integer stays itself
    } else {
      return std::abs(x);
    }
  }
};
struct SignOf {
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>((x > 0) - (x < 0));
    } else {
      return x > 0 ? T(1) : x < 0 ? T(-1) : x != x ? x : T(0);
    }
  }
  template <typename T>
  std::complex<T> operator()(const std::complex<T>& x) const {
    return x == std::complex<T>(0) ? x : x / std::abs(x);
  }
};
struct Squared {
  static constexpr bool kWraps = true;
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(uint32_t)) return uint32_t{x} * uint32_t{x};
    return x * x;
  }
  template <typename T>
  std::complex<T> operator()(const std::complex<T>& x) const {
    const T product = x.real() * x.imag();
    return {x.real() * x.real() - x.imag() * x.imag(), product + product};
  }
};
struct SquareRoot {
  template <typename T>
  T operator()(const T& x) const {
    return std::sqrt(x);
  }
};
struct ReciprocalSquareRoot {
  template <typename T>
  T operator()(const T& x) const {
    return T(1) / std::sqrt(x);
  }
};
struct Inverse {
  template <typename T>
  T operator()(const T& x) const {
    return T(1) / x;
  }
};
struct Conjugated {
  template <typename T>
  std::complex<T> operator()(const std::complex<T>& x) const {
    return std::conj(x);
  }
};
struct RoundedDown {
  template <typename T>
  T operator()(T x) const {
    return std::floor(x);
  }
};
struct RoundedUp {
  template <typename T>
  T operator()(T x) const {
    return std::ceil(x);
  }
};
struct RoundedToEven {
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>) {
      return x;
    } else {
      return std::nearbyint(x);  // under the default rounding mode, which nobody changes
    }
  }
};
struct IsNanOf {
  template <typename T>
  bool operator()(T x) const {
    return x != x;
  }
};
struct IsInfOf {
  template <typename T>
  bool operator()(T x) const {
    return std::abs(x) == std::numeric_limits<T>::infinity();
  }
};
struct IsFiniteOf {
  template <typename T>
  bool operator()(T x) const {
    return std::abs(x) <= std::numeric_limits<T>::max();
  }
};

Status NegGradient(GradientScope& g) { return g.Return({g.Neg(g.grad(0))}); }
Status AbsGradient(GradientScope& g) { return g.Return({g.Mul(g.grad(0), g.Op("Sign", {g.input(0)}))}); }
Status ZeroGradient(GradientScope& g) { return g.Return({g.Op("ZerosLike", {g.input(0)})}); }
Status SquareGradient(GradientScope& g) { return g.Return({g.Mul(g.grad(0), g.Mul(g.Scalar(2, g.input(0)), Conjugate(g, g.input(0))))}); }
Status SqrtGradient(GradientScope& g) { return g.Return({g.Op("SqrtGrad", {g.output(0), g.grad(0)})}); }
Status RsqrtGradient(GradientScope& g) { return g.Return({g.Op("RsqrtGrad", {g.output(0), g.grad(0)})}); }
Status ReciprocalGradient(GradientScope& g) { return g.Return({g.Op("ReciprocalGrad", {g.output(0), g.grad(0)})}); }
Status InvGradient(GradientScope& g) { return g.Return({g.Op("InvGrad", {g.output(0), g.grad(0)})}); }
Status ConjGradient(GradientScope& g) { return g.Return({g.Op("Conj", {g.grad(0)})}); }

const char kSigned[] = "T: {float, double, int32, int16, int8, complex64, int64, bfloat16, complex128, half}";

OpBuilder TestOp(const char* name) { return OpBuilder(name).Input("x: T").Output("y: bool").Attr("T: FLT").Shape(SameAsInput0).NoGradient(); }

const OpRegistrar kOps[] = {
    UnaryOp("Neg").Attr(kSigned).Cpu(UnaryKernelsForSigned<Negative>()).Gradient(NegGradient),
    UnaryOp("Abs")
        .Attr("T: {float, double, int32, int16, int8, int64, bfloat16, half}")
        .Cpu(UnaryKernels<Magnitude, float, double, int32_t, int16_t, int8_t, int64_t, BFloat16, Half>())
        .Gradient(AbsGradient),
    UnaryOp("Sign").Attr(kSigned).Cpu(UnaryKernelsForSigned<SignOf>()).Gradient(ZeroGradient),
    UnaryOp("Square")
        .Attr("T: ARITH")
        .Cpu(UnaryKernelsForSigned<Squared>())
        .Cpu(UnaryKernels<Squared, uint8_t, uint16_t, uint32_t, uint64_t>())
        .Gradient(SquareGradient),
    UnaryOp("Sqrt").Attr("T: FC").Cpu(UnaryKernelsForFloatingAndComplex<SquareRoot>()).Gradient(SqrtGradient),
    UnaryOp("Rsqrt").Attr("T: FC").Cpu(UnaryKernelsForFloatingAndComplex<ReciprocalSquareRoot>()).Gradient(RsqrtGradient),
    UnaryOp("Reciprocal").Attr(kSigned).Cpu(UnaryKernelsForFloatingAndComplex<Inverse>()).Gradient(ReciprocalGradient),
    UnaryOp("Inv").Attr(kSigned).Cpu(UnaryKernelsForFloatingAndComplex<Inverse>()).Gradient(InvGradient),
    UnaryOp("Floor").Attr("T: FLT").Cpu(UnaryKernelsForFloating<RoundedDown>()).NoGradient(),
    UnaryOp("Ceil").Attr("T: FLT").Cpu(UnaryKernelsForFloating<RoundedUp>()).NoGradient(),
    UnaryOp("Rint").Attr("T: FLT").Cpu(UnaryKernelsForFloating<RoundedToEven>()).Gradient(ZeroGradient),
    UnaryOp("Round").Attr(kSigned).Cpu(UnaryKernels<RoundedToEven, float, double, int32_t, int16_t, int8_t, int64_t, BFloat16, Half>()).NoGradient(),
    OpBuilder("Conj")
        .Input("input: T")
        .Output("output: T")
        .Attr("T: {complex64, complex128, variant} = complex64")
        .Shape(SameAsInput0)
        .Cpu(UnaryKernels<Conjugated, std::complex<float>, std::complex<double>>())
        .Gradient(ConjGradient),
    TestOp("IsNan").Cpu(UnaryKernelsForFloating<IsNanOf>()),
    TestOp("IsInf").Cpu(UnaryKernelsForFloating<IsInfOf>()),
    TestOp("IsFinite").Cpu(UnaryKernelsForFloating<IsFiniteOf>()),
};

}  // namespace
}  // namespace tandem
