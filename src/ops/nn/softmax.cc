// Softmax and LogSoftmax over the last dimension.
#include <cmath>
#include <vector>

#include "graph/gradient.h"
#include "ops/nn/activation.h"
#include "ops/nn/rows.h"

namespace tandem {
namespace {

template <bool is_log>
struct Softmax {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    using C = ComputeType<T>;
    const Tensor& logits = ctx.input(0);
    ASSIGN_OR_RETURN(const Rows shape, AsRows(logits.shape(), "logits"));
    ASSIGN_OR_RETURN(Tensor * output, ctx.ForwardOrAllocate({0}, 0, logits.shape()));
    if (output->num_elements() == 0) return OkStatus();
    ASSIGN_OR_RETURN(Tensor work, ctx.AllocateTemporary(DataTypeOf<C>::value, Shape{2, shape.columns}));
    C* x = work.mutable_data<C>();
    C* e = x + shape.columns;
    const T* from = logits.data<T>();
    T* to = output->mutable_data<T>();
    for (int64_t row = 0; row < shape.rows; ++row, from += shape.columns, to += shape.columns) {
      for (int64_t i = 0; i < shape.columns; ++i) x[i] = static_cast<C>(from[i]);
      const RowExponentials<C> row_sum = Exponentiate(x, shape.columns, e);
      if (is_log) {
        const C log_sum = std::log(row_sum.sum);
        for (int64_t i = 0; i < shape.columns; ++i) to[i] = static_cast<T>(x[i] - row_sum.largest - log_sum);
      } else {
        const C scale = C(1) / row_sum.sum;
        for (int64_t i = 0; i < shape.columns; ++i) to[i] = static_cast<T>(e[i] * scale);
      }
    }
    return OkStatus();
  }
};

Status AtLeastOneDimension(ShapeContext& ctx) {
  if (ctx.input(0).has_rank() && ctx.input(0).rank() < 1) return InvalidArgument("Shape must be at least rank 1 but is rank 0");
  return SameAsInput0(ctx);
}

Output SumOverClasses(GradientScope& g, Output x) { return g.Op("Sum", {x, g.Const(Tensor::Vector<int32_t>({-1}))}, {{"keep_dims", true}}); }

// d/dx = (g - Σ g·y) · y
Status SoftmaxGradient(GradientScope& g) {
  Output y = g.output(0);
  return g.Return({g.Mul(g.Sub(g.grad(0), SumOverClasses(g, g.Mul(g.grad(0), y))), y)});
}

// d/dx = g - Σ g · e^y
Status LogSoftmaxGradient(GradientScope& g) { return g.Return({g.Sub(g.grad(0), g.Mul(SumOverClasses(g, g.grad(0)), g.Op("Exp", {g.output(0)})))}); }

DEFINE_OP("Softmax")
    .Input("logits: T")
    .Output("softmax: T")
    .Attr("T: FLT")
    .Shape(AtLeastOneDimension)
    .Cpu(ForFloating<Softmax<false>>())
    .Gradient(SoftmaxGradient);

DEFINE_OP("LogSoftmax")
    .Input("logits: T")
    .Output("logsoftmax: T")
    .Attr("T: FLT")
    .Shape(AtLeastOneDimension)
    .Cpu(ForFloating<Softmax<true>>())
    .Gradient(LogSoftmaxGradient);

}  // namespace
}  // namespace tandem
