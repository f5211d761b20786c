// Prod, Max, Min, All and Any over axes.
#include <complex>
#include <limits>

#include "ops/math/reduction_gradients.h"
#include "ops/math/reduction_op.h"

namespace tandem {
namespace {

struct MultiplyUp {
  static constexpr bool kWraps = true;
  template <typename T>
  static T Identity() {
    return T(1);
  }
  template <typename T>
  T operator()(const T& folded, const T& next) const {
    if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(uint32_t)) return uint32_t{folded} * uint32_t{next};
    return folded * next;
  }
};
// The extrema are NaN if any element is.
struct Largest {
  template <typename T>
  static T Identity() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  }
  template <typename T>
  T operator()(T folded, T next) const {
    return folded < next || next != next ? next : folded;
  }
};
struct Smallest {
  template <typename T>
  static T Identity() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  }
  template <typename T>
  T operator()(T folded, T next) const {
    return next < folded || next != next ? next : folded;
  }
};
struct AllOf {
  template <typename T>
  static T Identity() {
    return true;
  }
  bool operator()(bool folded, bool next) const { return folded & next; }
};
struct AnyOf {
  template <typename T>
  static T Identity() {
    return false;
  }
  bool operator()(bool folded, bool next) const { return folded | next; }
};

template <typename F>
OpBuilder ExtremumOp(const char* name) {
  return ReductionOp(name)
      .Attr("T: {float, double, int32, uint8, int16, int8, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, half, uint32, uint64}")
      .Cpu(ReductionKernels<F, float, double, int32_t, uint8_t, int16_t, int8_t, int64_t, BFloat16, uint16_t, Half, uint32_t, uint64_t>())
      .Gradient(ExtremumGradient);
}

template <typename F>
OpBuilder BoolReductionOp(const char* name) {
  return OpBuilder(name)
      .Input("input: bool")
      .Input("reduction_indices: Tidx")
      .Output("output: bool")
      .Attr("keep_dims: bool = false")
      .Attr("Tidx: IDX = int32")
      .Shape(Reduction)
      .Cpu({"", {{kInvalid, MakeReductionKernel(&RunReduceLoop<F, bool>)}}})
      .NoGradient();
}

const OpRegistrar kOps[] = {
    ReductionOp("Prod")
        .Attr("T: NUM")
        .Cpu(ReductionKernels<MultiplyUp, float, double, int32_t, uint8_t, int16_t, int8_t, int64_t, BFloat16, uint16_t, Half, uint32_t, uint64_t,
                              std::complex<float>, std::complex<double>>())
        .Gradient(ProdGradient),
    ExtremumOp<Largest>("Max"),
    ExtremumOp<Smallest>("Min"),
    BoolReductionOp<AllOf>("All"),
    BoolReductionOp<AnyOf>("Any"),
};

}  // namespace
}  // namespace tandem
