// InTopK: whether fewer than k classes score strictly higher than the target. False where that cannot be said.
#include <cmath>

#include "graph/op.h"
#include "graph/shape_inference.h"

namespace tandem {
namespace {

bool IsInTopK(const float* scores, int64_t classes, int64_t target, int64_t k) {
  if (target < 0 || target >= classes || !std::isfinite(scores[target])) return false;
  int64_t higher = 0;
  for (int64_t i = 0; i < classes; ++i) {
    if (!std::isfinite(scores[i])) return false;
    if (scores[i] > scores[target] && ++higher > k) break;
  }
  return higher < k;
}

struct InTopK {
  explicit InTopK(const Attrs& attrs) : k_attr(attrs.Has("k") ? attrs.GetInt("k") : 0) {}

  template <typename T>
  Status Run(KernelContext& ctx) const {
    const Tensor &predictions = ctx.input(0), &targets = ctx.input(1);
    int64_t k = k_attr;
    if (ctx.num_inputs() > 2) {
      if (!ctx.input(2).shape().is_scalar()) return InvalidArgument("k must be 0-D, got shape ", ctx.input(2).shape().ToString());
      k = ctx.input(2).scalar<T>();
    }
    if (predictions.shape().rank() != 2) return InvalidArgument("predictions must be 2-dimensional, got shape ", predictions.shape().ToString());
    if (targets.shape().rank() != 1) return InvalidArgument("targets must be 1-dimensional, got shape ", targets.shape().ToString());
    const int64_t rows = predictions.shape().dim(0), classes = predictions.shape().dim(1);
    if (rows != targets.num_elements()) {
      return InvalidArgument("First dimension of predictions ", rows, " must match length of targets ", targets.num_elements());
    }
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, targets.shape()));
    for (int64_t row = 0; row < rows; ++row) {
      output->mutable_data<bool>()[row] = IsInTopK(predictions.data<float>() + row * classes, classes, targets.data<T>()[row], k);
    }
    return OkStatus();
  }

  const int64_t k_attr;
};

Status InTopKShape(ShapeContext& ctx) {
  const PartialShape &predictions = ctx.input(0), &targets = ctx.input(1);
  if (predictions.has_rank() && predictions.rank() != 2) return InvalidArgument("Shape must be rank 2 but is rank ", predictions.rank(), " for predictions");
  if (targets.has_rank() && targets.rank() != 1) return InvalidArgument("Shape must be rank 1 but is rank ", targets.rank(), " for targets");
  ASSIGN_OR_RETURN(PartialShape rows, PartialShape::Merge(PartialShape{predictions.has_rank() ? predictions.dim(0) : kUnknownSize}, targets));
  ctx.set_output(0, rows);
  return OkStatus();
}

DEFINE_OP("InTopK")
    .Input("predictions: float")
    .Input("targets: T")
    .Output("precision: bool")
    .Attr("k: int")
    .Attr("T: IDX = int32")
    .Shape(InTopKShape)
    .Cpu(ForTypes<InTopK, int32_t, int64_t>())
    .NoGradient();

DEFINE_OP("InTopKV2")
    .Input("predictions: float")
    .Input("targets: T")
    .Input("k: T")
    .Output("precision: bool")
    .Attr("T: IDX = int32")
    .Shape(InTopKShape)
    .Cpu(ForTypes<InTopK, int32_t, int64_t>())
    .NoGradient();

}  // namespace
}  // namespace tandem
