// SparseSegmentSum, -Mean, -SqrtN: rows picked by index and combined by sorted segment ids, as embedding look-ups do; and back.
#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "graph/gradient.h"
#include "graph/node.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"

namespace tandem {
namespace {

// What the sum of n rows is divided by: 1, n, sqrt(n).
enum class Scale { kSum, kMean, kSqrtN };

template <Scale scale>
double Divisor(int64_t n) {
  if constexpr (scale == Scale::kMean) return static_cast<double>(n);
  if constexpr (scale == Scale::kSqrtN) return std::sqrt(static_cast<double>(n));
  return 1;
}

// Short types add up in float.
template <typename T>
using Accumulator = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

// Inputs 1 and 2 of all these ops: which row, and which segment.
struct Picks {
  Integers rows, segments;
};

StatusOr<Picks> ReadPicks(const KernelContext& ctx) {
  const Tensor &indices = ctx.input(1), &ids = ctx.input(2);
  if (ctx.input(0).shape().rank() < 1) return InvalidArgument("input must be at least rank 1");
  if (indices.shape().rank() != 1) return InvalidArgument("indices should be a vector.");
  if (ids.shape().rank() != 1) return InvalidArgument("segment_ids should be a vector.");
  if (indices.num_elements() != ids.num_elements()) return InvalidArgument("segment_ids and indices should have same size.");
  Picks picks;
  ASSIGN_OR_RETURN(picks.rows, ReadIntegers(indices));
  ASSIGN_OR_RETURN(picks.segments, ReadIntegers(ids));
  return picks;
}

template <Scale scale>
struct SparseSegment {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    const Tensor& data = ctx.input(0);
    ASSIGN_OR_RETURN(Picks picks, ReadPicks(ctx));
    ASSIGN_OR_RETURN(int64_t segments, SegmentCount(ctx, picks));
    Shape shape = data.shape();
    int64_t row_count = shape.dim(0);
    shape.set_dim(0, segments);
    ASSIGN_OR_RETURN(shape, Shape::Checked(shape.dims()));
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    int64_t row_size = segments == 0 ? 0 : output->num_elements() / segments;
    T* to = output->mutable_data<T>();
    std::fill_n(to, output->num_elements(), T(0));
    const T* from = data.data<T>();
    std::vector<Accumulator<T>> sum(row_size);
    size_t count = picks.segments.size();
    for (size_t begin = 0, end; begin < count; begin = end) {
      int64_t segment = picks.segments[begin];
      for (end = begin + 1; end < count && picks.segments[end] == segment; ++end) {
      }
      if (end < count && picks.segments[end] < segment) return InvalidArgument("segment ids are not increasing");
      if (segment < 0 || segment >= segments) {
        return InvalidArgument("Segment id ", segment, " out of range [0, ", segments, "), possibly because 'segment_ids' input is not sorted.");
      }
      std::fill(sum.begin(), sum.end(), Accumulator<T>(0));
      for (size_t i = begin; i < end; ++i) {
        int64_t row = picks.rows[i];
        if (row < 0 || row >= row_count) return InvalidArgument("Bad: indices[", i, "] == ", row, " out of range [0, ", row_count, ")");
        for (int64_t k = 0; k < row_size; ++k) sum[k] += from[row * row_size + k];
      }
      T* result = to + segment * row_size;
      if constexpr (scale == Scale::kSum) {
        std::copy(sum.begin(), sum.end(), result);
      } else {
        Accumulator<T> divisor = static_cast<Accumulator<T>>(Divisor<scale>(static_cast<int64_t>(end - begin)));
        for (int64_t k = 0; k < row_size; ++k) result[k] = sum[k] / divisor;
      }
    }
    return OkStatus();
  }

  // From input 3 if there is one; otherwise one more than the last id.
  static StatusOr<int64_t> SegmentCount(const KernelContext& ctx, const Picks& picks) {
    int64_t last = picks.segments.empty() ? -1 : picks.segments.back();
    if (last < 0 && !picks.segments.empty()) return InvalidArgument("segment ids must be >= 0");
    if (ctx.num_inputs() < 4) {
      int64_t segments;
      if (__builtin_add_overflow(last, int64_t{1}, &segments)) return InvalidArgument("segment id ", last, " is too large");
      return segments;
    }
    if (!ctx.input(3).shape().is_scalar()) return InvalidArgument("num_segments should be a scalar, not shape ", ctx.input(3).shape().ToString());
    ASSIGN_OR_RETURN(int64_t segments, ReadScalar(ctx.input(3), "num_segments"));
    if (segments < 0) return InvalidArgument("segment ids must be >= 0");
    if (last >= segments) return InvalidArgument("segment ids must be < num_segments");
    return segments;
  }
};

Status SegmentShape(ShapeContext& ctx) {
  PartialShape data = ctx.input(0);
  if (data.rank() < 1) return data.has_rank() ? InvalidArgument("input must be at least rank 1") : OkStatus();
  int64_t segments = kUnknownSize;
  if (ctx.num_inputs() > 3 && (!ConstantScalar(ctx, 3, &segments) || segments < 0)) segments = kUnknownSize;
  data.set_dim(0, segments);
  ctx.set_output(0, data);
  return OkStatus();
}

// Adds row segments[i] of `grad`, divided as forward, to row rows[i] of the result.
template <Scale scale, typename T>
Status ScatterGradient(const Tensor& grad, const Picks& picks, Tensor* output) {
  int64_t segments = grad.shape().dim(0), output_rows = output->shape().dim(0);
  int64_t row_size = output_rows == 0 ? 0 : output->num_elements() / output_rows;
  absl::flat_hash_map<int64_t, int64_t> sizes;  // of the segments that occur
  for (int64_t segment : picks.segments) {
    if (segment < 0 || segment >= segments) return InvalidArgument("Invalid number of segments: segment id ", segment, " out of range [0, ", segments, ")");
    ++sizes[segment];
  }
  ASSIGN_OR_RETURN(Tensor wide, Tensor::Allocate(DataTypeOf<Accumulator<T>>::value, output->shape()));
  Accumulator<T>* sum = wide.mutable_data<Accumulator<T>>();
  std::fill_n(sum, wide.num_elements(), Accumulator<T>(0));
  const T* from = grad.data<T>();
  for (size_t i = 0; i < picks.rows.size(); ++i) {
    int64_t row = picks.rows[i], segment = picks.segments[i];
    if (row < 0 || row >= output_rows) return InvalidArgument("Index ", row, " out of range [0, ", output_rows, ").");
    Accumulator<T> factor = static_cast<Accumulator<T>>(1 / Divisor<scale>(sizes[segment]));
    for (int64_t k = 0; k < row_size; ++k) sum[row * row_size + k] += from[segment * row_size + k] * factor;
  }
  std::copy_n(sum, wide.num_elements(), output->mutable_data<T>());
  return OkStatus();
}

StatusOr<int64_t> OutputRows(const KernelContext& ctx) {
  if (!ctx.input(3).shape().is_scalar()) return InvalidArgument("output_dim0 should be a scalar.");
  ASSIGN_OR_RETURN(int64_t rows, ReadScalar(ctx.input(3), "output_dim0"));
  if (rows < 0) return InvalidArgument("Expected a non-negative size, got ", rows);
  return rows;
}

template <Scale scale>
struct SparseSegmentGrad {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(Picks picks, ReadPicks(ctx));
    ASSIGN_OR_RETURN(int64_t rows, OutputRows(ctx));
    Shape shape = ctx.input(0).shape();
    shape.set_dim(0, rows);
    ASSIGN_OR_RETURN(shape, Shape::Checked(shape.dims()));
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    return ScatterGradient<scale, T>(ctx.input(0), picks, output);
  }
};

Status GradShape(ShapeContext& ctx) {
  PartialShape grad = ctx.input(0);
  if (grad.rank() < 1) return OkStatus();
  int64_t rows;
  grad.set_dim(0, ConstantScalar(ctx, 3, &rows) && rows >= 0 ? rows : kUnknownSize);
  ctx.set_output(0, grad);
  return OkStatus();
}

// Only the rows that were picked, in the order of their indices.
template <Scale scale>
struct SparseSegmentGradV2 {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(Picks picks, ReadPicks(ctx));
    ASSIGN_OR_RETURN(int64_t rows, OutputRows(ctx));
    Integers unique = picks.rows;
    std::sort(unique.begin(), unique.end());
    unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
    for (int64_t& row : picks.rows) {
      if (row < 0 || row >= rows) return InvalidArgument("Index ", row, " out of range [0, ", rows, ").");
      row = std::lower_bound(unique.begin(), unique.end(), row) - unique.begin();
    }
    Shape shape = ctx.input(0).shape();
    shape.set_dim(0, static_cast<int64_t>(unique.size()));
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    RETURN_IF_ERROR((ScatterGradient<scale, T>(ctx.input(0), picks, output)));
    ASSIGN_OR_RETURN(Tensor made, MakeVector(ctx.output_type(1), unique));
    ctx.set_output(1, std::move(made));
    return OkStatus();
  }
};

Status GradV2Shape(ShapeContext& ctx) {
  PartialShape grad = ctx.input(0);
  if (grad.rank() >= 1) {
    grad.set_dim(0, kUnknownSize);
    ctx.set_output(0, grad);
  }
  ctx.set_output(1, PartialShape{kUnknownSize});
  return OkStatus();
}

// "SparseSegmentMean" and "SparseSegmentMeanWithNumSegments" both have SparseSegmentMeanGrad.
Status SparseSegmentGradient(GradientScope& g) {
  std::string op = g.node().op_name();
  op = op.substr(0, op.find("WithNumSegments"));
  Output first_size = g.Op("StridedSlice", {g.Op("Shape", {g.input(0)}), g.Const(Tensor(std::vector<int32_t>{0})), g.Const(Tensor(std::vector<int32_t>{1})),
                                            g.Const(Tensor(std::vector<int32_t>{1}))}, {{"shrink_axis_mask", 1}});
  std::vector<Output> gradients(g.num_inputs());
  gradients[0] = g.Op(op + "Grad", {g.grad(0), g.input(1), g.input(2), first_size});
  return g.Return(gradients);
}

DEFINE_OP("SparseSegmentSum")
    .Input("data: T")
    .Input("indices: Tidx")
    .Input("segment_ids: Tsegmentids")
    .Output("output: T")
    .Attr("T: REAL")
    .Attr("Tidx: IDX = int32")
    .Attr("Tsegmentids: IDX = int32")
    .Attr("sparse_gradient: bool = false")
    .Shape(SegmentShape)
    .Cpu(ForReal<SparseSegment<Scale::kSum>>())
    .Gradient(SparseSegmentGradient);

DEFINE_OP("SparseSegmentSumWithNumSegments")
    .Input("data: T")
    .Input("indices: Tidx")
    .Input("segment_ids: Tsegmentids")
    .Input("num_segments: Tnumsegments")
    .Output("output: T")
    .Attr("T: REAL")
    .Attr("Tidx: IDX = int32")
    .Attr("Tnumsegments: IDX = int32")
    .Attr("Tsegmentids: IDX = int32")
    .Attr("sparse_gradient: bool = false")
    .Shape(SegmentShape)
    .Cpu(ForReal<SparseSegment<Scale::kSum>>())
    .Gradient(SparseSegmentGradient);

DEFINE_OP("SparseSegmentSumGrad")
    .Input("grad: T")
    .Input("indices: Tidx")
    .Input("segment_ids: Tsegmentids")
    .Input("output_dim0: int32")
    .Output("output: T")
    .Attr("T: FLT")
    .Attr("Tidx: IDX = int32")
    .Attr("Tsegmentids: IDX = int32")
    .Shape(GradShape)
    .Cpu(ForFloating<SparseSegmentGrad<Scale::kSum>>())
    .NoGradient();

DEFINE_OP("SparseSegmentSumGradV2")
    .Input("grad: T")
    .Input("indices: Tidx")
    .Input("segment_ids: Tsegmentids")
    .Input("dense_output_dim0: int32")
    .Output("output: T")
    .Output("sorted_unique_indices: Tidx")
    .Attr("T: FLT")
    .Attr("Tidx: IDX = int32")
    .Attr("Tsegmentids: IDX = int32")
    .Shape(GradV2Shape)
    .Cpu(ForFloating<SparseSegmentGradV2<Scale::kSum>>())
    .NoGradient();

DEFINE_OP("SparseSegmentMean")
    .Input("data: T")
    .Input("indices: Tidx")
    .Input("segment_ids: Tsegmentids")
    .Output("output: T")
    .Attr("T: FLT")
    .Attr("Tidx: IDX = int32")
    .Attr("Tsegmentids: IDX = int32")
    .Attr("sparse_gradient: bool = false")
    .Shape(SegmentShape)
    .Cpu(ForFloating<SparseSegment<Scale::kMean>>())
    .Gradient(SparseSegmentGradient);

DEFINE_OP("SparseSegmentMeanWithNumSegments")
    .Input("data: T")
    .Input("indices: Tidx")
    .Input("segment_ids: Tsegmentids")
    .Input("num_segments: Tnumsegments")
    .Output("output: T")
    .Attr("T: FLT")
    .Attr("Tidx: IDX = int32")
    .Attr("Tnumsegments: IDX = int32")
    .Attr("Tsegmentids: IDX = int32")
    .Attr("sparse_gradient: bool = false")
    .Shape(SegmentShape)
    .Cpu(ForFloating<SparseSegment<Scale::kMean>>())
    .Gradient(SparseSegmentGradient);

DEFINE_OP("SparseSegmentMeanGrad")
    .Input("grad: T")
    .Input("indices: Tidx")
    .Input("segment_ids: Tsegmentids")
    .Input("output_dim0: int32")
    .Output("output: T")
    .Attr("T: FLT")
    .Attr("Tidx: IDX = int32")
    .Attr("Tsegmentids: IDX = int32")
    .Shape(GradShape)
    .Cpu(ForFloating<SparseSegmentGrad<Scale::kMean>>())
    .NoGradient();

DEFINE_OP("SparseSegmentMeanGradV2")
    .Input("grad: T")
    .Input("indices: Tidx")
    .Input("segment_ids: Tsegmentids")
    .Input("dense_output_dim0: int32")
    .Output("output: T")
    .Output("sorted_unique_indices: Tidx")
    .Attr("T: FLT")
    .Attr("Tidx: IDX = int32")
    .Attr("Tsegmentids: IDX = int32")
    .Shape(GradV2Shape)
    .Cpu(ForFloating<SparseSegmentGradV2<Scale::kMean>>())
    .NoGradient();

DEFINE_OP("SparseSegmentSqrtN")
    .Input("data: T")
    .Input("indices: Tidx")
    .Input("segment_ids: Tsegmentids")
    .Output("output: T")
    .Attr("T: FLT")
    .Attr("Tidx: IDX = int32")
    .Attr("Tsegmentids: IDX = int32")
    .Attr("sparse_gradient: bool = false")
    .Shape(SegmentShape)
    .Cpu(ForFloating<SparseSegment<Scale::kSqrtN>>())
    .Gradient(SparseSegmentGradient);

DEFINE_OP("SparseSegmentSqrtNWithNumSegments")
    .Input("data: T")
    .Input("indices: Tidx")
    .Input("segment_ids: Tsegmentids")
    .Input("num_segments: Tnumsegments")
    .Output("output: T")
    .Attr("T: FLT")
    .Attr("Tidx: IDX = int32")
    .Attr("Tnumsegments: IDX = int32")
    .Attr("Tsegmentids: IDX = int32")
    .Attr("sparse_gradient: bool = false")
    .Shape(SegmentShape)
    .Cpu(ForFloating<SparseSegment<Scale::kSqrtN>>())
    .Gradient(SparseSegmentGradient);

DEFINE_OP("SparseSegmentSqrtNGrad")
    .Input("grad: T")
    .Input("indices: Tidx")
    .Input("segment_ids: Tsegmentids")
    .Input("output_dim0: int32")
    .Output("output: T")
    .Attr("T: FLT")
    .Attr("Tidx: IDX = int32")
    .Attr("Tsegmentids: IDX = int32")
    .Shape(GradShape)
    .Cpu(ForFloating<SparseSegmentGrad<Scale::kSqrtN>>())
    .NoGradient();

DEFINE_OP("SparseSegmentSqrtNGradV2")
    .Input("grad: T")
    .Input("indices: Tidx")
    .Input("segment_ids: Tsegmentids")
    .Input("dense_output_dim0: int32")
    .Output("output: T")
    .Output("sorted_unique_indices: Tidx")
    .Attr("T: FLT")
    .Attr("Tidx: IDX = int32")
    .Attr("Tsegmentids: IDX = int32")
    .Shape(GradV2Shape)
    .Cpu(ForFloating<SparseSegmentGradV2<Scale::kSqrtN>>())
    .NoGradient();

}  // namespace
}  // namespace tandem
