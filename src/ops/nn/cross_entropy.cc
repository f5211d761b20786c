// Cross entropy between softmax(logits) and labels: loss per row, and its gradient by the logits as the second output.
#include <algorithm>
#include <cmath>

#include "graph/gradient.h"
#include "ops/nn/activation.h"
#include "ops/nn/rows.h"

namespace tandem {
namespace {

// A matrix that repeats a row or a column of size 1.
struct Matrix {
  int64_t row_stride = 0, column_stride = 0;  // elements
};

StatusOr<Shape> BroadcastToMatrix(const Shape& logits, const Shape& labels) {
  StatusOr<PartialShape> both = BroadcastShapes(logits, labels);
  if (!both.ok()) {
    return InvalidArgument("logits and labels must be broadcastable: logits_size=", logits.ToString(), " labels_size=", labels.ToString());
  }
  if (both->rank() != 2) {
    return InvalidArgument("logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional, got ", logits.ToString(), " and ",
                           labels.ToString());
  }
  return both->ToShape();
}

Matrix StridesWithin(const Shape& shape) {
  const int rank = shape.rank();
  const int64_t columns = rank > 0 ? shape.dim(rank - 1) : 1, rows = rank > 1 ? shape.dim(0) : 1;
  return {rows == 1 ? 0 : columns, columns == 1 ? 0 : 1};
}

struct CrossEntropy {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    using C = ComputeType<T>;
    const Tensor &logits = ctx.input(0), &labels = ctx.input(1);
    ASSIGN_OR_RETURN(const Shape shape, BroadcastToMatrix(logits.shape(), labels.shape()));
    const int64_t rows = shape.dim(0), columns = shape.dim(1);
    const Matrix x_strides = StridesWithin(logits.shape()), p_strides = StridesWithin(labels.shape());
    ASSIGN_OR_RETURN(Tensor * loss, ctx.Allocate(0, Shape{rows}));
    ASSIGN_OR_RETURN(Tensor * backprop, ctx.Allocate(1, shape));
    if (rows == 0) return OkStatus();
    if (columns == 0) {
      std::fill_n(loss->mutable_data<T>(), rows, static_cast<T>(0.0f));
      return OkStatus();
    }
    ASSIGN_OR_RETURN(Tensor work, ctx.AllocateTemporary(DataTypeOf<C>::value, Shape{2, columns}));
    C* x = work.mutable_data<C>();
    C* e = x + columns;
    T* to = backprop->mutable_data<T>();
    for (int64_t row = 0; row < rows; ++row, to += columns) {
      const T* from = logits.data<T>() + row * x_strides.row_stride;
      const T* p = labels.data<T>() + row * p_strides.row_stride;
      for (int64_t i = 0; i < columns; ++i) x[i] = static_cast<C>(from[i * x_strides.column_stride]);
      const RowExponentials<C> sums = Exponentiate(x, columns, e);
      const C log_sum = std::log(sums.sum), scale = C(1) / sums.sum;
      C total = 0;
      for (int64_t i = 0; i < columns; ++i) {
        const C label = static_cast<C>(p[i * p_strides.column_stride]);
        if (label != C(0)) total += label * (log_sum - (x[i] - sums.largest));  // 0 · inf is no loss
        to[i] = static_cast<T>(e[i] * scale - label);
      }
      loss->mutable_data<T>()[row] = static_cast<T>(total);
    }
    return OkStatus();
  }
};

// "0 3 -1" of at most 100 labels.
template <typename I>
std::string ListLabels(const Tensor& labels) {
  std::string text;
  const int64_t shown = std::min<int64_t>(labels.num_elements(), 100);
  for (int64_t i = 0; i < shown; ++i) absl::StrAppend(&text, i > 0 ? " " : "", labels.data<I>()[i]);
  return text;
}

template <typename I>
struct SparseCrossEntropy {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    using C = ComputeType<T>;
    const Tensor &logits = ctx.input(0), &labels = ctx.input(1);
    RETURN_IF_ERROR(CheckInputs(logits, labels));
    const int64_t rows = logits.shape().dim(0), columns = logits.shape().dim(1);
    const I* label = labels.data<I>();
    for (int64_t row = 0; row < rows; ++row) {
      if (label[row] < 0 || label[row] >= columns) {
        return InvalidArgument("Received a label value of ", label[row], " which is outside the valid range of [0, ", columns,
                               ").  Label values: ", ListLabels<I>(labels));
      }
    }
    ASSIGN_OR_RETURN(Tensor * loss, ctx.Allocate(0, Shape{rows}));
    ASSIGN_OR_RETURN(Tensor * backprop, ctx.ForwardOrAllocate({0}, 1, logits.shape()));
    if (rows == 0) return OkStatus();
    ASSIGN_OR_RETURN(Tensor work, ctx.AllocateTemporary(DataTypeOf<C>::value, Shape{2, columns}));
    C* x = work.mutable_data<C>();
    C* e = x + columns;
    const T* from = logits.data<T>();
    T* to = backprop->mutable_data<T>();
    for (int64_t row = 0; row < rows; ++row, from += columns, to += columns) {
      for (int64_t i = 0; i < columns; ++i) x[i] = static_cast<C>(from[i]);
      const RowExponentials<C> sums = Exponentiate(x, columns, e);
      const C scale = C(1) / sums.sum;
      for (int64_t i = 0; i < columns; ++i) to[i] = static_cast<T>(e[i] * scale);
      const int64_t k = label[row];
      to[k] = static_cast<T>(e[k] * scale - C(1));
      loss->mutable_data<T>()[row] = static_cast<T>(std::log(sums.sum) - (x[k] - sums.largest));
    }
    return OkStatus();
  }

  static Status CheckInputs(const Tensor& logits, const Tensor& labels) {
    const Shape &x = logits.shape(), &y = labels.shape();
    if (x.rank() != 2) return InvalidArgument("logits must be 2-D, but got shape ", x.ToString());
    if (y.rank() != 1) return InvalidArgument("labels must be 1-D, but got shape ", y.ToString());
    if (x.dim(0) != y.dim(0)) {
      return InvalidArgument("logits and labels must have the same first dimension, got logits shape ", x.ToString(), " and labels shape ", y.ToString());
    }
    if (x.dim(1) <= 0) return InvalidArgument("Must have at least one class, but got logits shape ", x.ToString());
    return OkStatus();
  }
};

// Kernels are chosen by T; the type of the labels is looked at inside.
struct SparseCrossEntropyByLabels {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    if (ctx.input_type(1) == kInt32) return SparseCrossEntropy<int32_t>().Run<T>(ctx);
    return SparseCrossEntropy<int64_t>().Run<T>(ctx);
  }
};

Status CrossEntropyShape(ShapeContext& ctx) {
  ASSIGN_OR_RETURN(const PartialShape shape, BroadcastShapes(ctx.input(0), ctx.input(1)));
  if (!shape.has_rank()) {
    ctx.set_output(0, PartialShape{kUnknownSize});
    ctx.set_output(1, PartialShape{kUnknownSize, kUnknownSize});
    return OkStatus();
  }
  if (shape.rank() != 2) return InvalidArgument("Shape must be rank 2 but is rank ", shape.rank(), " for logits and labels");
  ctx.set_output(0, PartialShape{shape.dim(0)});
  ctx.set_output(1, shape);
  return OkStatus();
}

Status SparseCrossEntropyShape(ShapeContext& ctx) {
  const PartialShape &logits = ctx.input(0), &labels = ctx.input(1);
  if (logits.has_rank() && logits.rank() != 2) return InvalidArgument("Shape must be rank 2 but is rank ", logits.rank(), " for logits");
  if (labels.has_rank() && labels.rank() != 1) return InvalidArgument("Shape must be rank 1 but is rank ", labels.rank(), " for labels");
  const PartialShape rows_of_logits = logits.has_rank() ? PartialShape{logits.dim(0)} : PartialShape{kUnknownSize};
  ASSIGN_OR_RETURN(const PartialShape rows, PartialShape::Merge(rows_of_logits, labels));
  ctx.set_output(0, rows);
  ctx.set_output(1, PartialShape{rows.dim(0), logits.has_rank() ? logits.dim(1) : kUnknownSize});
  return OkStatus();
}

Output LastAxis(GradientScope& g) { return g.Const(Tensor::Scalar<int32_t>(-1)); }

// grad(0) · backprop, plus, where the second output is used too, the second derivative (g1 - Σ g1·s) · s with s = softmax(logits).
Output LogitsGradient(GradientScope& g, Output loss_gradient) {
  Output result = g.Mul(loss_gradient, g.output(1));
  if (!g.has_grad(1)) return result;
  Output softmax = g.Op("Softmax", {g.input(0)});
  Output sum = g.Op("Sum", {g.Mul(g.grad(1), softmax), g.Const(Tensor::Vector<int32_t>({-1}))}, {{"keep_dims", true}});
  return g.Add(result, g.Mul(g.Sub(g.grad(1), sum), softmax));
}

Status CrossEntropyGradient(GradientScope& g) {
  Output loss_gradient = g.Op("ExpandDims", {g.grad(0), LastAxis(g)});
  Output by_logits = LogitsGradient(g, loss_gradient);
  return g.Return({by_logits, g.Mul(loss_gradient, g.Neg(g.Op("LogSoftmax", {g.input(0)})))});
}

Status SparseCrossEntropyGradient(GradientScope& g) { return g.Return({LogitsGradient(g, g.Op("ExpandDims", {g.grad(0), LastAxis(g)})), Output()}); }

DEFINE_OP("SoftmaxCrossEntropyWithLogits")
    .Input("features: T")
    .Input("labels: T")
    .Output("loss: T")
    .Output("backprop: T")
    .Attr("T: FLT")
    .Shape(CrossEntropyShape)
    .Cpu(ForFloating<CrossEntropy>())
    .Gradient(CrossEntropyGradient);

DEFINE_OP("SparseSoftmaxCrossEntropyWithLogits")
    .Input("features: T")
    .Input("labels: Tlabels")
    .Output("loss: T")
    .Output("backprop: T")
    .Attr("T: FLT")
    .Attr("Tlabels: IDX = int64")
    .Shape(SparseCrossEntropyShape)
    .Cpu(ForFloating<SparseCrossEntropyByLabels>())
    .Gradient(SparseCrossEntropyGradient);

}  // namespace
}  // namespace tandem
