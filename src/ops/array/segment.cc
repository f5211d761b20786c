// SegmentSum, -Mean, -Max, -Min, -Prod: runs of rows combined, segment by segment, in the order of their ids.
#include <algorithm>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"

namespace tandem {
namespace {

enum class Kind { kSum, kMean, kMax, kMin, kProd };

template <Kind kind, typename T>
void Join(const T* from, int64_t size, T* to) {
  for (int64_t k = 0; k < size; ++k) {
    if constexpr (kind == Kind::kMax) {
      to[k] = to[k] < from[k] ? from[k] : to[k];
    } else if constexpr (kind == Kind::kMin) {
      to[k] = from[k] < to[k] ? from[k] : to[k];
    } else if constexpr (kind == Kind::kProd) {
      to[k] *= from[k];
    } else {
      to[k] += from[k];
    }
  }
}

template <Kind kind>
struct Segment {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    const Tensor &data = ctx.input(0), &ids = ctx.input(1);
    if (ids.shape().rank() != 1) return InvalidArgument("segment_ids should be a vector.");
    if (data.shape().rank() < 1) return InvalidArgument("input must be at least rank 1");
    if (ids.num_elements() != data.shape().dim(0)) return InvalidArgument("segment_ids should be the same size as dimension 0 of input.");
    ASSIGN_OR_RETURN(Integers segment_of, ReadIntegers(ids));
    int64_t segments = 0;
    if (!segment_of.empty()) {
      if (segment_of.back() < 0) return InvalidArgument("segment ids must be >= 0");
      if (__builtin_add_overflow(segment_of.back(), int64_t{1}, &segments)) return InvalidArgument("segment id ", segment_of.back(), " is too large");
    }
    Shape shape = data.shape();
    shape.set_dim(0, segments);
    ASSIGN_OR_RETURN(shape, Shape::Checked(shape.dims()));
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    T* to = output->mutable_data<T>();
    std::fill_n(to, output->num_elements(), T(kind == Kind::kProd ? 1 : 0));
    int64_t row_size = segment_of.empty() ? 0 : data.num_elements() / data.shape().dim(0);
    const T* from = data.data<T>();
    for (size_t begin = 0, end; begin < segment_of.size(); begin = end) {
      int64_t segment = segment_of[begin];
      for (end = begin + 1; end < segment_of.size() && segment_of[end] == segment; ++end) {
      }
      if (end < segment_of.size() && segment_of[end] < segment) return InvalidArgument("segment ids are not increasing");
      if (segment < 0 || segment >= segments) {
        return InvalidArgument("Segment id ", segment, " out of range [0, ", segments, "), possibly because 'segment_ids' input is not sorted.");
      }
      T* row = to + segment * row_size;
      std::copy_n(from + static_cast<int64_t>(begin) * row_size, row_size, row);
      for (size_t i = begin + 1; i < end; ++i) Join<kind>(from + static_cast<int64_t>(i) * row_size, row_size, row);
      if constexpr (kind == Kind::kMean) {
        T count = T(static_cast<float>(end - begin));
        if constexpr (std::is_integral_v<T>) count = static_cast<T>(end - begin);
        for (int64_t k = 0; k < row_size && count != T(0); ++k) row[k] /= count;
      }
    }
    return OkStatus();
  }
};

Status SegmentShape(ShapeContext& ctx) {
  PartialShape data = ctx.input(0);
  if (data.rank() < 1) return data.has_rank() ? InvalidArgument("input must be at least rank 1") : OkStatus();
  data.set_dim(0, kUnknownSize);
  ctx.set_output(0, data);
  return OkStatus();
}

Output GatherRows(GradientScope& g, Output params) { return g.Op("GatherV2", {params, g.input(1), g.Scalar(0, kInt32)}); }

Status SumGradient(GradientScope& g) { return g.Return({GatherRows(g, g.grad(0)), Output()}); }

Status MeanGradient(GradientScope& g) {
  // Ones of shape [rows, 1, 1, …], summed by segment: the rows in each.
  Output rank = g.Op("Rank", {g.input(0)});
  Output surplus = g.Op("ExpandDims", {g.Sub(rank, g.Scalar(1, kInt32)), g.Scalar(0, kInt32)});
  Output inner = g.Op("Fill", {surplus, g.Scalar(1, kInt32)});
  Output ones_shape = g.Op("ConcatV2", {g.Op("Shape", {g.input(1)}), inner, g.Scalar(0, kInt32)}, {{"N", 2}});
  Output counts = g.Op("SegmentSum", {g.Op("Fill", {ones_shape, g.Scalar(1, g.grad(0))}), g.input(1)});
  return g.Return({GatherRows(g, g.RealDiv(g.grad(0), counts)), Output()});
}

// The gradient goes to the elements that are the extremum, in equal parts.
Status ExtremumGradient(GradientScope& g) {
  Output is_selected = g.Op("Equal", {g.input(0), GatherRows(g, g.output(0))});
  Output counts = g.Op("SegmentSum", {g.Op("Cast", {is_selected}, {{"DstT", g.grad(0).dtype()}}), g.input(1)});
  Output shares = GatherRows(g, g.RealDiv(g.grad(0), counts));
  return g.Return({g.Op("SelectV2", {is_selected, shares, g.Op("ZerosLike", {shares})}), Output()});
}

// As that of UnsortedSegmentProd.
Status ProdGradient(GradientScope& g) {
  Output data = g.input(0);
  Output is_zero = g.Op("Equal", {data, g.Scalar(0, data)});
  Output zero_count = g.Op("SegmentSum", {g.Op("Cast", {is_zero}, {{"DstT", kInt32}}), g.input(1)});
  Output grad = g.Op("SelectV2", {g.Op("Greater", {zero_count, g.Scalar(1, kInt32)}), g.Op("ZerosLike", {g.grad(0)}), g.grad(0)});
  Output without_zeros = g.Op("SelectV2", {is_zero, g.Op("OnesLike", {data}), data});
  Output other_product = GatherRows(g, g.Op("SegmentProd", {without_zeros, g.input(1)}));
  Output partial = g.Op("SelectV2", {is_zero, other_product, g.RealDiv(GatherRows(g, g.output(0)), data)});
  return g.Return({g.Mul(GatherRows(g, grad), partial), Output()});
}

DEFINE_OP("SegmentSum")
    .Input("data: T")
    .Input("segment_ids: Tindices")
    .Output("output: T")
    .Attr("T: NUM")
    .Attr("Tindices: IDX")
    .Shape(SegmentShape)
    .Cpu(ForArithmetic<Segment<Kind::kSum>>())
    .Gradient(SumGradient);

DEFINE_OP("SegmentMean")
    .Input("data: T")
    .Input("segment_ids: Tindices")
    .Output("output: T")
    .Attr("T: NUM")
    .Attr("Tindices: IDX")
    .Shape(SegmentShape)
    .Cpu(ForArithmetic<Segment<Kind::kMean>>())
    .Gradient(MeanGradient);

DEFINE_OP("SegmentMax")
    .Input("data: T")
    .Input("segment_ids: Tindices")
    .Output("output: T")
    .Attr("T: REAL")
    .Attr("Tindices: IDX")
    .Shape(SegmentShape)
    .Cpu(ForReal<Segment<Kind::kMax>>())
    .Gradient(ExtremumGradient);

DEFINE_OP("SegmentMin")
    .Input("data: T")
    .Input("segment_ids: Tindices")
    .Output("output: T")
    .Attr("T: REAL")
    .Attr("Tindices: IDX")
    .Shape(SegmentShape)
    .Cpu(ForReal<Segment<Kind::kMin>>())
    .Gradient(ExtremumGradient);

DEFINE_OP("SegmentProd")
    .Input("data: T")
    .Input("segment_ids: Tindices")
    .Output("output: T")
    .Attr("T: NUM")
    .Attr("Tindices: IDX")
    .Shape(SegmentShape)
    .Cpu(ForArithmetic<Segment<Kind::kProd>>())
    .Gradient(ProdGradient);

}  // namespace
}  // namespace tandem
