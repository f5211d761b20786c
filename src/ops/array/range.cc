// Range and LinSpace: numbers at equal distances.
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"

namespace tandem {
namespace {

template <typename T>
std::string AsText(T value) {
  if constexpr (std::is_integral_v<T>) {
    return absl::StrCat(+value);
  } else {
    return absl::StrCat(static_cast<double>(value));
  }
}

constexpr int64_t kMaxSize = std::numeric_limits<int64_t>::max();

// ceil(|limit - start| / |delta|). InvalidArgument if delta is 0, leads away from limit or the result would be too large.
template <typename T>
StatusOr<int64_t> RangeSize(T start, T limit, T delta) {
  if (delta == T(0)) return InvalidArgument("Requires delta != 0: ", AsText(delta));
  if (delta > T(0) && start > limit) return InvalidArgument("Requires start <= limit when delta > 0: ", AsText(start), "/", AsText(limit));
  if (delta < T(0) && start < limit) return InvalidArgument("Requires start >= limit when delta < 0: ", AsText(start), "/", AsText(limit));
  if constexpr (std::is_integral_v<T>) {
    uint64_t from = static_cast<uint64_t>(start), to = static_cast<uint64_t>(limit);
    uint64_t distance = start < limit ? to - from : from - to;
    uint64_t step = delta > T(0) ? static_cast<uint64_t>(delta) : uint64_t{0} - static_cast<uint64_t>(delta);
    uint64_t size = distance / step + (distance % step != 0 ? 1 : 0);
    if (size > static_cast<uint64_t>(kMaxSize)) return InvalidArgument("Requires ((limit - start) / delta) <= ", kMaxSize);
    return static_cast<int64_t>(size);
  } else {
    double size = std::ceil(std::abs((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta)));
    if (!(size < 9.2e18)) return InvalidArgument("Requires ((limit - start) / delta) <= ", kMaxSize);
    return static_cast<int64_t>(size);
  }
}

struct Range {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    for (int i = 0; i < 3; ++i) {
      if (ctx.input(i).num_elements() != 1 || ctx.input(i).shape().rank() > 1) {
        return InvalidArgument(i == 0 ? "start" : i == 1 ? "limit" : "delta", " must be a scalar, not shape ", ctx.input(i).shape().ToString());
      }
    }
    T start = *ctx.input(0).data<T>(), limit = *ctx.input(1).data<T>(), delta = *ctx.input(2).data<T>();
    ASSIGN_OR_RETURN(int64_t size, RangeSize(start, limit, delta));
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, Shape{size}));
    T* to = output->mutable_data<T>();
    // Adding up, not multiplying, is what TensorFlow does; for integers it wraps at the last step only.
    T value = start;
    for (int64_t i = 0; i < size; ++i) {
      to[i] = value;
      if constexpr (std::is_integral_v<T>) {
        value = static_cast<T>(static_cast<uint64_t>(value) + static_cast<uint64_t>(delta));
      } else {
        value += delta;
      }
    }
    return OkStatus();
  }
};

template <typename T>
int64_t ConstantRangeSize(const ShapeContext& ctx) {
  StatusOr<int64_t> size = RangeSize(*ctx.constant(0)->data<T>(), *ctx.constant(1)->data<T>(), *ctx.constant(2)->data<T>());
  return size.ok() ? *size : kUnknownSize;
}

Status RangeShape(ShapeContext& ctx) {
  int64_t size = kUnknownSize;
  bool is_known = true;
  for (int i = 0; i < 3; ++i) is_known = is_known && ctx.constant(i) != nullptr && ctx.constant(i)->num_elements() == 1;
  if (is_known) {
    switch (ctx.attrs().GetType("Tidx")) {
      case kInt32: size = ConstantRangeSize<int32_t>(ctx); break;
      case kInt64: size = ConstantRangeSize<int64_t>(ctx); break;
      case kFloat: size = ConstantRangeSize<float>(ctx); break;
      case kDouble: size = ConstantRangeSize<double>(ctx); break;
      default: break;
    }
  }
  ctx.set_output(0, PartialShape{size});
  return OkStatus();
}

struct LinSpace {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    for (int i = 0; i < 3; ++i) {
      if (!ctx.input(i).shape().is_scalar()) {
        return InvalidArgument(i == 0 ? "start" : i == 1 ? "stop" : "num", " must be a scalar, not shape ", ctx.input(i).shape().ToString());
      }
    }
    ASSIGN_OR_RETURN(int64_t size, ReadScalar(ctx.input(2), "num"));
    if (size <= 0) return InvalidArgument("Requires num > 0: ", size);
    T start = ctx.input(0).scalar<T>(), stop = ctx.input(1).scalar<T>();
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, Shape{size}));
    T* to = output->mutable_data<T>();
    to[0] = start;
    if (size == 1) return OkStatus();
    T step = (stop - start) / static_cast<T>(static_cast<double>(size - 1));
    for (int64_t i = 1; i < size - 1; ++i) to[i] = start + step * static_cast<T>(static_cast<double>(i));
    // The end is exact whatever the rounding of the steps.
    to[size - 1] = stop;
    return OkStatus();
  }
};

Status LinSpaceShape(ShapeContext& ctx) {
  int64_t size;
  ctx.set_output(0, PartialShape{ConstantScalar(ctx, 2, &size) && size > 0 ? size : kUnknownSize});
  return OkStatus();
}

DEFINE_OP("Range")
    .Input("start: Tidx")
    .Input("limit: Tidx")
    .Input("delta: Tidx")
    .Output("output: Tidx")
    .Attr("Tidx: FLT + {int8, int16, int32, int64, uint16, uint32, uint64} = int32")
    .Shape(RangeShape)
    .Cpu(ForTypes<Range, float, double, int32_t, int16_t, int8_t, int64_t, BFloat16, uint16_t, Half, uint32_t, uint64_t>("Tidx"))
    .NoGradient();

DEFINE_OP("LinSpace")
    .Input("start: T")
    .Input("stop: T")
    .Input("num: Tidx")
    .Output("output: T")
    .Attr("T: FLT")
    .Attr("Tidx: IDX = int32")
    .Shape(LinSpaceShape)
    .Cpu(ForFloating<LinSpace>())
    .NoGradient();

}  // namespace
}  // namespace tandem
