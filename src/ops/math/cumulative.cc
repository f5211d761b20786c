// Cumsum and Cumprod along an axis.
#include <complex>
#include <vector>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/math/binary.h"
#include "ops/math/low_precision.h"

namespace tandem {
namespace {

struct RunningSum {
  static constexpr bool kWraps = true;
  static constexpr int kStart = 0;
  template <typename T>
  T operator()(const T& x, const T& y) const {
    return x + y;
  }
};
struct RunningProduct {
  static constexpr bool kWraps = true;
  static constexpr int kStart = 1;
  template <typename T>
  T operator()(const T& x, const T& y) const {
    if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(uint32_t)) return uint32_t{x} * uint32_t{y};
    return x * y;
  }
};

template <typename F>
struct Cumulative {
  explicit Cumulative(const Attrs& attrs) : is_exclusive(attrs.GetBool("exclusive")), is_reverse(attrs.GetBool("reverse")) {}

  template <typename T>
  Status Run(KernelContext& ctx) const {
    Tensor x = ctx.input(0);
    const Tensor& axis_input = ctx.input(1);
    if (!axis_input.shape().is_scalar()) return InvalidArgument("ScanOp: axis must be a scalar, not ", axis_input.shape().ToString());
    int64_t axis = axis_input.dtype() == kInt32 ? axis_input.scalar<int32_t>() : axis_input.scalar<int64_t>();
    const int rank = x.shape().rank();
    if (axis < -rank || axis >= rank) return InvalidArgument("ScanOp: Expected scan axis in the range [", -rank, ", ", rank, "), but got ", axis);
    if (axis < 0) axis += rank;
    Extent extent;
    for (int i = 0; i < rank; ++i) (i < axis ? extent.outer : i == axis ? extent.count : extent.inner) *= x.shape().dim(i);

    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, x.shape()));
    if (out->num_elements() == 0) return OkStatus();
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      ASSIGN_OR_RETURN(x, Widened(x));
      ASSIGN_OR_RETURN(Tensor wide, ctx.AllocateTemporary(kFloat, x.shape()));
      Scan<float>(extent, x.raw_data(), wide.mutable_raw_data());
      Narrow(wide, out);
    } else {
      Scan<typename ComputeTypeOf<F, T>::type>(extent, x.raw_data(), out->mutable_raw_data());
    }
    return OkStatus();
  }

  struct Extent {
    int64_t outer = 1, count = 1, inner = 1;
  };

  template <typename C>
  void Scan(const Extent& extent, const void* x, void* y) const {
    const F f;
    std::vector<C> running(extent.inner);
    for (int64_t o = 0; o < extent.outer; ++o) {
      std::fill(running.begin(), running.end(), C(F::kStart));
      for (int64_t i = 0; i < extent.count; ++i) {
        const int64_t at = (o * extent.count + (is_reverse ? extent.count - 1 - i : i)) * extent.inner;
        const C* from = static_cast<const C*>(x) + at;
        C* to = static_cast<C*>(y) + at;
        for (int64_t j = 0; j < extent.inner; ++j) {
          const C next = f(running[j], from[j]);
          to[j] = is_exclusive ? running[j] : next;
          running[j] = next;
        }
      }
    }
  }

  bool is_exclusive, is_reverse;
};

Output ReversedCumsum(GradientScope& g, const Output& x) {
  return g.Op("Cumsum", {x, g.input(1)}, {{"exclusive", g.attrs().GetBool("exclusive")}, {"reverse", !g.attrs().GetBool("reverse")}});
}

Status CumsumGradient(GradientScope& g) { return g.Return({ReversedCumsum(g, g.grad(0)), Output()}); }

// x_i is a factor of every product from its place on; those products, divided by x_i. 0 where x_i is 0, as in TensorFlow.
Status CumprodGradient(GradientScope& g) { return g.Return({g.Op("DivNoNan", {ReversedCumsum(g, g.Mul(g.output(0), g.grad(0))), g.input(0)}), Output()}); }

OpBuilder CumulativeOp(const char* name) {
  return OpBuilder(name)
      .Input("x: T")
      .Input("axis: Tidx")
      .Output("out: T")
      .Attr("exclusive: bool = false")
      .Attr("reverse: bool = false")
      .Attr("T: NUM")
      .Attr("Tidx: IDX = int32")
      .Shape(SameAsInput0);
}

const OpRegistrar kOps[] = {
    CumulativeOp("Cumsum").Cpu(ForArithmetic<Cumulative<RunningSum>>()).Gradient(CumsumGradient),
    CumulativeOp("Cumprod").Cpu(ForArithmetic<Cumulative<RunningProduct>>()).Gradient(CumprodGradient),
};

}  // namespace
}  // namespace tandem
