// UnsortedSegmentSum, -Max, -Min, -Prod: rows combined by the number of their segment.
#include <limits>
#include <type_traits>
#include <vector>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"
#include "ops/array/nd_index.h"
#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

// What an empty segment holds, and how an element joins.
struct Sum {
  template <typename T>
  static T Initial() { return T(0); }
  template <typename T>
  static void Join(T& to, const T& from) { to += from; }
};
struct Prod {
  template <typename T>
  static T Initial() { return T(1); }
  template <typename T>
  static void Join(T& to, const T& from) { to *= from; }
};

template <typename T>
T Highest() {
  if constexpr (std::is_same_v<T, Half>) return Half::FromBits(0x7bff);
  if constexpr (std::is_same_v<T, BFloat16>) return BFloat16::FromBits(0x7f7f);
  return std::numeric_limits<T>::max();
}
template <typename T>
T Lowest() {
  if constexpr (std::is_same_v<T, Half>) return Half::FromBits(0xfbff);
  if constexpr (std::is_same_v<T, BFloat16>) return BFloat16::FromBits(0xff7f);
  return std::numeric_limits<T>::lowest();
}

struct Max {
  template <typename T>
  static T Initial() { return Lowest<T>(); }
  template <typename T>
  static void Join(T& to, const T& from) { to = to < from ? from : to; }
};
struct Min {
  template <typename T>
  static T Initial() { return Highest<T>(); }
  template <typename T>
  static void Join(T& to, const T& from) { to = from < to ? from : to; }
};

template <typename Join>
struct UnsortedSegment {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    const Tensor &data = ctx.input(0), &ids = ctx.input(1);
    if (!ctx.input(2).shape().is_scalar()) return InvalidArgument("num_segments should be a scalar, not shape ", ctx.input(2).shape().ToString());
    ASSIGN_OR_RETURN(int64_t segments, ReadScalar(ctx.input(2), "num_segments"));
    if (segments < 0) return InvalidArgument("Input num_segments == ", segments, " must not be negative.");
    Shape shape;
    shape.AddDim(segments);
    for (int i = 0; i < std::max(data.shape().rank(), ids.shape().rank()); ++i) {
      if (i >= ids.shape().rank()) {
        shape.AddDim(data.shape().dim(i));
      } else if (i >= data.shape().rank() || data.shape().dim(i) != ids.shape().dim(i)) {
        return InvalidArgument("data.shape = ", data.shape().ToString(), " does not start with segment_ids.shape = ", ids.shape().ToString());
      }
    }
    ASSIGN_OR_RETURN(shape, Shape::Checked(shape.dims()));
    ASSIGN_OR_RETURN(Integers segment_of, ReadIntegers(ids));
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    T* to = output->mutable_data<T>();
    std::fill_n(to, output->num_elements(), Join::template Initial<T>());
    int64_t row_size = segment_of.empty() ? 0 : data.num_elements() / static_cast<int64_t>(segment_of.size());
    const T* from = data.data<T>();
    for (size_t i = 0; i < segment_of.size(); ++i, from += row_size) {
      int64_t segment = segment_of[i];
      if (segment < 0) continue;
      if (segment >= segments) {
        return InvalidArgument("segment_ids[", IndexText(static_cast<int64_t>(i), ids.shape()), "] = ", segment, " is out of range [0, ", segments, ")");
      }
      T* row = to + segment * row_size;
      for (int64_t k = 0; k < row_size; ++k) Join::Join(row[k], from[k]);
    }
    return OkStatus();
  }
};

Status UnsortedSegmentShape(ShapeContext& ctx) {
  const PartialShape &data = ctx.input(0), &ids = ctx.input(1);
  int64_t segments;
  bool is_known = ConstantScalar(ctx, 2, &segments);
  if (is_known && segments < 0) return InvalidArgument("Input num_segments == ", segments, " must not be negative.");
  if (!data.has_rank() || !ids.has_rank()) return OkStatus();
  if (ids.rank() > data.rank()) return InvalidArgument("data.shape = ", data.ToString(), " does not start with segment_ids.shape = ", ids.ToString());
  std::vector<int64_t> sizes = {is_known ? segments : kUnknownSize};
  for (int i = ids.rank(); i < data.rank(); ++i) sizes.push_back(data.dim(i));
  ctx.set_output(0, PartialShape(sizes));
  return OkStatus();
}

// Rows of `params` by segment id; rows of dropped (negative) ids are zero, and false in `is_kept`, which has the gathered shape.
struct KeptRows {
  Output rows, is_kept;
};
KeptRows GatherKept(GradientScope& g, Output params) {
  Output ids = g.input(1);
  Output zero = g.Scalar(0, ids);
  Output rows = g.Op("GatherV2", {params, g.Op("Maximum", {ids, zero}), g.Scalar(0, kInt32)});
  Output is_kept = g.Op("GreaterEqual", {ids, zero});
  // As many dimensions of size 1 behind the ids as the rows have more.
  Output ids_shape = g.Op("Shape", {ids});
  Output surplus = g.Sub(g.Op("Rank", {rows}), g.Op("Rank", {is_kept}));
  Output ones = g.Op("Fill", {g.Op("ExpandDims", {surplus, g.Scalar(0, kInt32)}), g.Scalar(1, kInt32)});
  Output wide = g.Op("Reshape", {is_kept, g.Op("ConcatV2", {ids_shape, ones, g.Scalar(0, kInt32)}, {{"N", 2}})});
  is_kept = g.Op("LogicalAnd", {wide, g.Op("OnesLike", {g.Op("Cast", {rows}, {{"DstT", kBool}})})});
  return {g.Op("SelectV2", {is_kept, rows, g.Op("ZerosLike", {rows})}), is_kept};
}

Status SumGradient(GradientScope& g) { return g.Return({GatherKept(g, g.grad(0)).rows, Output(), Output()}); }

// The gradient goes to the elements that are the extremum, in equal parts.
Status ExtremumGradient(GradientScope& g) {
  KeptRows extrema = GatherKept(g, g.output(0));
  Output is_selected = g.Op("LogicalAnd", {g.Op("Equal", {g.input(0), extrema.rows}), extrema.is_kept});
  Output selected = g.Op("Cast", {is_selected}, {{"DstT", g.grad(0).dtype()}});
  Output counts = g.Op("UnsortedSegmentSum", {selected, g.input(1), g.input(2)});
  Output shares = GatherKept(g, g.Op("RealDiv", {g.grad(0), counts})).rows;
  return g.Return({g.Op("SelectV2", {is_selected, shares, g.Op("ZerosLike", {shares})}), Output(), Output()});
}

// Product over the others: the whole divided by the element or, for a zero, the product of what is not zero, if it is the only zero.
Status ProdGradient(GradientScope& g) {
  Output data = g.input(0), ids = g.input(1), segments = g.input(2);
  Output is_zero = g.Op("Equal", {data, g.Scalar(0, data)});
  Output zero_count = g.Op("UnsortedSegmentSum", {g.Op("Cast", {is_zero}, {{"DstT", kInt32}}), ids, segments});
  Output grad = g.Op("SelectV2", {g.Op("Greater", {zero_count, g.Scalar(1, kInt32)}), g.Op("ZerosLike", {g.grad(0)}), g.grad(0)});
  Output without_zeros = g.Op("SelectV2", {is_zero, g.Op("OnesLike", {data}), data});
  Output other_product = GatherKept(g, g.Op("UnsortedSegmentProd", {without_zeros, ids, segments})).rows;
  Output product = GatherKept(g, g.output(0)).rows;
  Output partial = g.Op("SelectV2", {is_zero, other_product, g.RealDiv(product, data)});
  return g.Return({g.Mul(GatherKept(g, grad).rows, partial), Output(), Output()});
}

DEFINE_OP("UnsortedSegmentSum")
    .Input("data: T")
    .Input("segment_ids: Tindices")
    .Input("num_segments: Tnumsegments")
    .Output("output: T")
    .Attr("T: NUM")
    .Attr("Tindices: {int16, int32, int64}")
    .Attr("Tnumsegments: IDX = int32")
    .Shape(UnsortedSegmentShape)
    .Cpu(ForArithmetic<UnsortedSegment<Sum>>())
    .Gradient(SumGradient);

DEFINE_OP("UnsortedSegmentMax")
    .Input("data: T")
    .Input("segment_ids: Tindices")
    .Input("num_segments: Tnumsegments")
    .Output("output: T")
    .Attr("T: REAL")
    .Attr("Tindices: IDX")
    .Attr("Tnumsegments: IDX = int32")
    .Shape(UnsortedSegmentShape)
    .Cpu(ForReal<UnsortedSegment<Max>>())
    .Gradient(ExtremumGradient);

DEFINE_OP("UnsortedSegmentMin")
    .Input("data: T")
    .Input("segment_ids: Tindices")
    .Input("num_segments: Tnumsegments")
    .Output("output: T")
    .Attr("T: REAL")
    .Attr("Tindices: IDX")
    .Attr("Tnumsegments: IDX = int32")
    .Shape(UnsortedSegmentShape)
    .Cpu(ForReal<UnsortedSegment<Min>>())
    .Gradient(ExtremumGradient);

DEFINE_OP("UnsortedSegmentProd")
    .Input("data: T")
    .Input("segment_ids: Tindices")
    .Input("num_segments: Tnumsegments")
    .Output("output: T")
    .Attr("T: NUM")
    .Attr("Tindices: IDX")
    .Attr("Tnumsegments: IDX = int32")
    .Shape(UnsortedSegmentShape)
    .Cpu(ForArithmetic<UnsortedSegment<Prod>>())
    .Gradient(ProdGradient);

}  // namespace
}  // namespace tandem
