// TopK: the k largest values of each row with their places; of equal ones the first. NthElement: the n-th smallest of each row.
#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "graph/gradient.h"
#include "ops/nn/activation.h"
#include "ops/nn/rows.h"

namespace tandem {
namespace {

// A strict order even with NaN, which counts as less than all numbers.
template <typename T>
bool IsLess(T a, T b) {
  if constexpr (!std::is_integral_v<T>) {
    if (a != a || b != b) return a != a && b == b;
  }
  return a < b;
}

StatusOr<int64_t> ScalarAsInt64(const Tensor& tensor, absl::string_view what) {
  if (!tensor.shape().is_scalar()) return InvalidArgument(what, " must be scalar, got shape ", tensor.shape().ToString());
  switch (tensor.dtype()) {
    case kInt16:
      return tensor.scalar<int16_t>();
    case kInt32:
      return tensor.scalar<int32_t>();
    default:
      return tensor.scalar<int64_t>();
  }
}

// Places of the k largest of a row, best first (or in any order), at the start of `order`.
template <typename T>
void FindLargest(const T* row, int64_t count, int64_t k, bool is_sorted, std::vector<int64_t>* order) {
  order->resize(count);
  std::iota(order->begin(), order->end(), 0);
  auto is_better = [row](int64_t a, int64_t b) {
    const auto x = static_cast<ComputeType<T>>(row[a]), y = static_cast<ComputeType<T>>(row[b]);
    return IsLess(y, x) || (!IsLess(x, y) && a < b);
  };
  if (k < count) std::nth_element(order->begin(), order->begin() + k, order->end(), is_better);
  if (is_sorted) std::sort(order->begin(), order->begin() + k, is_better);
}

template <typename I>
void StoreIndices(const std::vector<int64_t>& order, int64_t k, int64_t row, Tensor* indices) {
  for (int64_t i = 0; i < k; ++i) indices->mutable_data<I>()[row * k + i] = static_cast<I>(order[i]);
}

struct TopK {
  explicit TopK(const Attrs& attrs) : k_attr(attrs.Has("k") ? attrs.GetInt("k") : 0), is_sorted(attrs.GetBool("sorted")) {}

  template <typename T>
  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    int64_t k = k_attr;
    if (ctx.num_inputs() > 1) {
      ASSIGN_OR_RETURN(k, ScalarAsInt64(ctx.input(1), "k"));
    }
    if (k < 0) return InvalidArgument("Need k >= 0, got ", k);
    if (input.shape().rank() < 1) return InvalidArgument("input must be >= 1-D, got shape ", input.shape().ToString());
    ASSIGN_OR_RETURN(const Rows rows, AsRows(input.shape(), "input"));
    if (rows.columns < k) return InvalidArgument("input must have at least k columns. Had ", rows.columns, ", needed ", k);
    Shape shape = input.shape();
    shape.set_dim(shape.rank() - 1, k);
    ASSIGN_OR_RETURN(Tensor * values, ctx.Allocate(0, shape));
    ASSIGN_OR_RETURN(Tensor * indices, ctx.Allocate(1, shape));
    if (values->num_elements() == 0) return OkStatus();
    if (indices->dtype() == kInt16 && rows.columns > std::numeric_limits<int16_t>::max()) {
      return InvalidArgument("places up to ", rows.columns, " do not fit in the index type int16");
    }
    std::vector<int64_t> order;
    for (int64_t row = 0; row < rows.rows; ++row) {
      const T* from = input.data<T>() + row * rows.columns;
      FindLargest(from, rows.columns, k, is_sorted, &order);
      for (int64_t i = 0; i < k; ++i) values->mutable_data<T>()[row * k + i] = from[order[i]];
      switch (indices->dtype()) {
        case kInt16:
          StoreIndices<int16_t>(order, k, row, indices);
          break;
        case kInt32:
          StoreIndices<int32_t>(order, k, row, indices);
          break;
        default:
          StoreIndices<int64_t>(order, k, row, indices);
      }
    }
    return OkStatus();
  }

  const int64_t k_attr;
  const bool is_sorted;
};

struct NthElement {
  explicit NthElement(const Attrs& attrs) : is_reverse(attrs.GetBool("reverse")) {}

  template <typename T>
  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    ASSIGN_OR_RETURN(int64_t n, ScalarAsInt64(ctx.input(1), "N"));
    if (n < 0) return InvalidArgument("n must be non-negative but is ", n);
    if (input.shape().rank() < 1) return InvalidArgument("Input must be >= 1-D, got shape ", input.shape().ToString());
    ASSIGN_OR_RETURN(const Rows rows, AsRows(input.shape(), "input"));
    if (rows.columns <= n) return InvalidArgument("Input must have at least n+1 columns. Had ", rows.columns, ", n is ", n);
    if (is_reverse) n = rows.columns - 1 - n;
    Shape shape = input.shape();
    shape.RemoveDim(shape.rank() - 1);
    ASSIGN_OR_RETURN(Tensor * values, ctx.Allocate(0, shape));
    std::vector<T> row_copy(rows.columns);
    for (int64_t row = 0; row < rows.rows; ++row) {
      const T* from = input.data<T>() + row * rows.columns;
      std::copy(from, from + rows.columns, row_copy.begin());
      std::nth_element(row_copy.begin(), row_copy.begin() + n, row_copy.end(),
                       [](const T& a, const T& b) { return IsLess(static_cast<ComputeType<T>>(a), static_cast<ComputeType<T>>(b)); });
      values->mutable_data<T>()[row] = row_copy[n];
    }
    return OkStatus();
  }

  const bool is_reverse;
};

Status TopKShape(ShapeContext& ctx) {
  const PartialShape& input = ctx.input(0);
  if (!input.has_rank()) return OkStatus();
  if (input.rank() < 1) return InvalidArgument("Shape must be at least rank 1 but is rank 0");
  int64_t k = kUnknownSize;
  if (ctx.num_inputs() == 1) {
    k = ctx.attrs().GetInt("k");
  } else if (ctx.constant(1) != nullptr) {
    ASSIGN_OR_RETURN(k, ScalarAsInt64(*ctx.constant(1), "k"));
    if (k < 0) return InvalidArgument("Need k >= 0, got ", k);
  }
  const int64_t columns = input.dim(input.rank() - 1);
  if (columns != kUnknownSize && k > columns) return InvalidArgument("input must have last dimension >= k = ", k, " but is ", columns);
  PartialShape shape = input;
  shape.set_dim(input.rank() - 1, k);
  ctx.set_output(0, shape);
  ctx.set_output(1, shape);
  return OkStatus();
}

Status NthElementShape(ShapeContext& ctx) {
  const PartialShape& input = ctx.input(0);
  if (!input.has_rank()) return OkStatus();
  if (input.rank() < 1) return InvalidArgument("Shape must be at least rank 1 but is rank 0");
  ctx.set_output(0, PartialShape(input.dims().subspan(0, input.rank() - 1)));
  return OkStatus();
}

// Each gradient goes to the place that its value came from.
Status TopKGradient(GradientScope& g) {
  auto int64 = [&g](Output x) { return g.Op("Cast", {x}, {{"DstT", kInt64}}); };
  Output minus_one = g.Const(Tensor::Scalar<int64_t>(-1)), zero = g.Const(Tensor::Scalar<int64_t>(0)), one = g.Const(Tensor::Scalar<int64_t>(1));
  Output in_shape = g.Op("Shape", {g.input(0)}, {{"out_type", kInt64}});
  Output columns = g.Op("GatherV2", {in_shape, g.Op("Sub", {g.Op("Size", {in_shape}, {{"out_type", kInt64}}), one}), g.Scalar(0, kInt32)});
  // As a matrix of one row per row of the input; k may be 0, which a -1 cannot be inferred beside.
  Output size = g.Op("Size", {g.input(0)}, {{"out_type", kInt64}});
  Output rows = g.Op("FloorDiv", {size, g.Op("Maximum", {columns, one})});
  Output k = g.Op("FloorDiv", {g.Op("Size", {g.output(1)}, {{"out_type", kInt64}}), g.Op("Maximum", {rows, one})});
  Output places = g.Op("Reshape", {int64(g.output(1)), g.Op("Pack", {rows, k}, {{"N", 2}})});
  Output starts = g.Op("Mul", {g.Op("Range", {zero, rows, one}), columns});
  Output flat =
      g.Op("Reshape", {g.Add(places, g.Op("ExpandDims", {starts, g.Scalar(-1, kInt32)})), g.Op("Reshape", {minus_one, g.Const(Tensor::Vector<int32_t>({1}))})});
  Output updates = g.Op("Reshape", {g.grad(0), g.Const(Tensor::Vector<int32_t>({-1}))});
  Output scattered = g.Op("ScatterNd", {g.Op("ExpandDims", {flat, g.Scalar(-1, kInt32)}), updates, g.Op("ExpandDims", {size, g.Scalar(0, kInt32)})});
  std::vector<Output> result(g.num_inputs());
  result[0] = g.Op("Reshape", {scattered, in_shape});
  return g.Return(result);
}

// Shared equally by all elements that equal the n-th.
Status NthElementGradient(GradientScope& g) {
  Output last = g.Scalar(-1, kInt32);
  Output is_chosen = g.Op("Cast", {g.Op("Equal", {g.Op("ExpandDims", {g.output(0), last}), g.input(0)})}, {{"DstT", g.grad(0).dtype()}});
  Output count = g.Op("ExpandDims", {g.Op("Sum", {is_chosen, last}), last});
  return g.Return({g.Mul(g.RealDiv(is_chosen, count), g.Op("ExpandDims", {g.grad(0), last})), Output()});
}

DEFINE_OP("TopK")
    .Input("input: T")
    .Output("values: T")
    .Output("indices: int32")
    .Attr("k: int >= 0")
    .Attr("sorted: bool = true")
    .Attr("T: REAL")
    .Shape(TopKShape)
    .Cpu(ForReal<TopK>())
    .Gradient(TopKGradient);

DEFINE_OP("TopKV2")
    .Input("input: T")
    .Input("k: Tk")
    .Output("values: T")
    .Output("indices: index_type")
    .Attr("sorted: bool = true")
    .Attr("T: REAL")
    .Attr("Tk: {int16, int32, int64} = int32")
    .Attr("index_type: {int16, int32, int64} = int32")
    .Shape(TopKShape)
    .Cpu(ForReal<TopK>())
    .Gradient(TopKGradient);

DEFINE_OP("NthElement")
    .Input("input: T")
    .Input("n: int32")
    .Output("values: T")
    .Attr("reverse: bool = false")
    .Attr("T: REAL")
    .Shape(NthElementShape)
    .Cpu(ForReal<NthElement>())
    .Gradient(NthElementGradient);

}  // namespace
}  // namespace tandem
