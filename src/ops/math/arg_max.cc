// ArgMax and ArgMin: where along an axis the extreme value is. The first of equals; NaN is passed over.
#include <algorithm>
#include <limits>
#include <vector>

#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/math/cast.h"
#include "ops/math/low_precision.h"
#include "ops/math/reduction_loops.h"

namespace tandem {
namespace {

struct IsGreater {
  template <typename T>
  bool operator()(T x, T y) const {
    return x > y;
  }
};
struct IsSmaller {
  template <typename T>
  bool operator()(T x, T y) const {
    return x < y;
  }
};

// The value that every number beats or equals.
template <typename Beats, typename T>
T Weakest() {
  using Limits = std::numeric_limits<T>;
  if (Beats()(T(1), T(0))) return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  return Limits::has_infinity ? Limits::infinity() : Limits::max();
}

// Folds a row to its extreme value; NaN only if all of it is.
template <typename Beats>
struct Best {
  template <typename T>
  static T Identity() {
    return Weakest<Beats, T>();
  }
  template <typename T>
  T operator()(T folded, T next) const {
    return Beats()(next, folded) || folded != folded ? next : folded;
  }
};

// Two passes, of which the first is vector code and the second ends early.
template <typename Beats, typename T>
int64_t FindInRow(const T* x, int64_t count) {
  const T best = FoldRow<Best<Beats>, T>(x, count);
  const T* found = std::find(x, x + count, best);
  return found == x + count ? 0 : found - x;
}

template <typename Beats, typename T>
void FindExtremes(const T* x, int64_t outer, int64_t count, int64_t inner, int64_t* out) {
  if (inner == 1) {
    for (int64_t o = 0; o < outer; ++o) out[o] = FindInRow<Beats, T>(x + o * count, count);
    return;
  }
  const Beats beats;
  std::vector<T> best(inner);
  for (int64_t o = 0; o < outer; ++o, out += inner) {
    std::fill(best.begin(), best.end(), Weakest<Beats, T>());
    std::fill_n(out, inner, 0);
    for (int64_t i = 0; i < count; ++i, x += inner) {
      for (int64_t j = 0; j < inner; ++j) {
        if (!beats(x[j], best[j])) continue;
        best[j] = x[j];
        out[j] = i;
      }
    }
  }
}

template <typename Beats>
struct ArgExtremum {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    Tensor x = ctx.input(0);
    const Tensor& dimension = ctx.input(1);
    if (dimension.num_elements() != 1 || dimension.shape().rank() != 0) {
      return InvalidArgument("dim must be a scalar, but received tensor of shape: ", dimension.shape().ToString());
    }
    int64_t axis;
    CastElements(dimension.dtype(), dimension.raw_data(), kInt64, &axis, 1);
    const int rank = x.shape().rank();
    if (axis < -rank || axis >= rank) return InvalidArgument("Expected dimension in the range [", -rank, ", ", rank, "), but got ", axis);
    if (axis < 0) axis += rank;
    const int64_t count = x.shape().dim(static_cast<int>(axis));
    int64_t outer = 1, inner = 1;
    Shape shape;
    for (int i = 0; i < rank; ++i) {
      if (i == axis) continue;
      shape.AddDim(x.shape().dim(i));
      (i < axis ? outer : inner) *= x.shape().dim(i);
    }
    if (count == 0) return InvalidArgument("Reduction axis ", axis, " is empty in shape ", x.shape().ToString());

    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, shape));
    if (out->num_elements() == 0) return OkStatus();
    Tensor index = *out;
    if (out->dtype() != kInt64) {
      ASSIGN_OR_RETURN(index, ctx.AllocateTemporary(kInt64, shape));
    }
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      ASSIGN_OR_RETURN(x, Widened(x));
      FindExtremes<Beats, float>(x.data<float>(), outer, count, inner, index.mutable_data<int64_t>());
    } else if constexpr (std::is_same_v<T, bool>) {
      FindExtremes<Beats, uint8_t>(static_cast<const uint8_t*>(x.raw_data()), outer, count, inner, index.mutable_data<int64_t>());
    } else {
      FindExtremes<Beats, T>(x.data<T>(), outer, count, inner, index.mutable_data<int64_t>());
    }
    if (out->dtype() != kInt64) CastElements(kInt64, index.raw_data(), out->dtype(), out->mutable_raw_data(), out->num_elements());
    return OkStatus();
  }
};

Status WithoutAxis(ShapeContext& ctx) {
  const PartialShape& in = ctx.input(0);
  const Tensor* dimension = ctx.constant(1);
  if (!in.has_rank()) return OkStatus();
  if (dimension == nullptr || dimension->num_elements() != 1) {
    if (in.rank() > 0) ctx.set_output(0, PartialShape::UnknownOfRank(in.rank() - 1));
    return OkStatus();
  }
  const int64_t axis = dimension->dtype() == kInt32 ? *dimension->data<int32_t>() : *dimension->data<int64_t>();
  if (axis < -in.rank() || axis >= in.rank()) {
    return InvalidArgument("Dimension (", axis, ") must be in the range [", -in.rank(), ", ", in.rank(), "), where ", in.rank(),
                           " is the number of dimensions in the input.");
  }
  PartialShape out = PartialShape::Scalar();
  for (int i = 0; i < in.rank(); ++i) {
    if (i != (axis < 0 ? axis + in.rank() : axis)) out.AddDim(in.dim(i));
  }
  ctx.set_output(0, out);
  return OkStatus();
}

template <typename Beats>
OpBuilder ArgOp(const char* name) {
  return OpBuilder(name)
      .Input("input: T")
      .Input("dimension: Tidx")
      .Output("output: output_type")
      .Attr("T: {float, double, int32, uint8, int16, int8, int64, bool, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, half, uint32, uint64}")
      .Shape(WithoutAxis)
      .Cpu(ForReal<ArgExtremum<Beats>>())
      .Cpu(ForTypes<ArgExtremum<Beats>, bool>())
      .NoGradient();
}

const OpRegistrar kOps[] = {
    ArgOp<IsGreater>("ArgMax").Attr("Tidx: {int32, int16, int64} = int32").Attr("output_type: {int32, int16, int64, uint16} = int64"),
    ArgOp<IsSmaller>("ArgMin").Attr("Tidx: IDX = int32").Attr("output_type: IDX = int64"),
};

}  // namespace
}  // namespace tandem
