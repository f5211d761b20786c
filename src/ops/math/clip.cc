// ClipByValue: max(min(t, largest), smallest), each bound a scalar or of t's shape. NaN stays.
#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/math/low_precision.h"

namespace tandem {
namespace {

struct ClipByValue {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    Tensor t = ctx.input(0), low = ctx.input(1), high = ctx.input(2);
    for (const Tensor* bound : {&low, &high}) {
      if (!bound->shape().is_scalar() && bound->shape() != t.shape()) {
        return InvalidArgument("clip_value_min and clip_value_max must be either of the same shape as input, or a scalar. input shape: ", t.shape().ToString(),
                               "clip_value_min shape: ", low.shape().ToString(), "clip_value_max shape: ", high.shape().ToString());
      }
    }
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      ASSIGN_OR_RETURN(t, Widened(t));
      ASSIGN_OR_RETURN(low, Widened(low));
      ASSIGN_OR_RETURN(high, Widened(high));
      ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, t.shape()));
      Clip<float>(t, low, high, &t);
      Narrow(t, out);
    } else {
      ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, t.shape()));
      Clip<T>(t, low, high, out);
    }
    return OkStatus();
  }

  template <typename T>
  static void Clip(const Tensor& t, const Tensor& low, const Tensor& high, Tensor* out) {
    const T* from = t.data<T>();
    const T* lows = low.data<T>();
    const T* highs = high.data<T>();
    T* to = out->mutable_data<T>();
    const int64_t count = t.num_elements();
    if (low.shape().is_scalar() && high.shape().is_scalar()) {
      const T smallest = *lows, largest = *highs;
#pragma GCC ivdep
      for (int64_t i = 0; i < count; ++i) to[i] = One(from[i], smallest, largest);
      return;
    }
    const int64_t low_stride = low.shape().is_scalar() ? 0 : 1, high_stride = high.shape().is_scalar() ? 0 : 1;
    for (int64_t i = 0; i < count; ++i) to[i] = One(from[i], lows[i * low_stride], highs[i * high_stride]);
  }

  template <typename T>
  static T One(T x, T smallest, T largest) {
    const T below = largest < x ? largest : x;
    return below < smallest ? smallest : below;
  }
};

// To t where it was within, else to the bound that it met.
Status ClipByValueGradient(GradientScope& g) {
  const Output zero = g.Scalar(0, g.input(0));
  const Output is_below = g.Op("Less", {g.input(0), g.input(1)}), is_above = g.Op("Greater", {g.input(0), g.input(2)});
  const auto where = [&](const Output& condition, const Output& yes, const Output& no) { return g.Op("SelectV2", {condition, yes, no}); };
  const Output dt = where(g.Op("LogicalOr", {is_below, is_above}), zero, g.grad(0));
  const Output dlow = g.ReduceBroadcast(where(is_below, g.grad(0), zero), Output(), g.input(1), g.output(0)).first;
  const Output dhigh = g.ReduceBroadcast(where(is_above, g.grad(0), zero), Output(), g.input(2), g.output(0)).first;
  return g.Return({dt, dlow, dhigh});
}

DEFINE_OP("ClipByValue")
    .Input("t: T")
    .Input("clip_value_min: T")
    .Input("clip_value_max: T")
    .Output("output: T")
    .Attr("T: NUM")
    .Shape(SameAsInput0)
    .Cpu(ForReal<ClipByValue>())
    .Gradient(ClipByValueGradient);

}  // namespace
}  // namespace tandem
