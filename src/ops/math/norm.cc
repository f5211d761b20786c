// EuclideanNorm over axes, and L2Loss, half the squared norm of all elements.
#include <algorithm>
#include <cmath>
#include <complex>

#include "ops/math/cast.h"
#include "ops/math/low_precision.h"
#include "ops/math/reduction_gradients.h"
#include "ops/math/reduction_op.h"

namespace tandem {
namespace {

template <typename T>
void Square(Tensor* x) {
  for (T& value : x->mutable_values<T>()) value = std::norm(value);  // |x|², of the same type as x
}
template <typename T>
void SquareRoot(Tensor* x) {
  for (T& value : x->mutable_values<T>()) value = std::sqrt(value);
}

// Half and bfloat16 are computed in float, integers in double.
DataType NormType(DataType type) {
  if (IsLowPrecision(type)) return kFloat;
  return IsInteger(type) ? kDouble : type;
}

template <typename T>
StatusOr<Tensor> Norm(Tensor x, const ReductionPlan& plan) {
  Square<T>(&x);
  ASSIGN_OR_RETURN(Tensor norm, Reduce(x, plan, &RunReduceLoop<AddUp, T>));
  SquareRoot<T>(&norm);
  return norm;
}

struct EuclideanNorm {
  explicit EuclideanNorm(const Attrs& attrs) : keep_dims(attrs.GetBool("keep_dims")) {
    const DataType type = attrs.GetType("T");
    if (!IsCastable(type, NormType(type))) attrs.Fail(Unimplemented("EuclideanNorm of ", DataTypeName(type)));
  }

  Status Run(KernelContext& ctx) const {
    const Tensor& x = ctx.input(0);
    ASSIGN_OR_RETURN(ReductionPlan plan, PlanReduction(x.shape(), ctx.input(1), keep_dims));
    const DataType type = NormType(x.dtype());
    ASSIGN_OR_RETURN(Tensor work, ctx.AllocateTemporary(type, x.shape()));
    CastElements(x.dtype(), x.raw_data(), type, work.mutable_raw_data(), x.num_elements());
    ASSIGN_OR_RETURN(Tensor norm, type == kFloat       ? Norm<float>(std::move(work), plan)
                                  : type == kDouble    ? Norm<double>(std::move(work), plan)
                                  : type == kComplex64 ? Norm<std::complex<float>>(std::move(work), plan)
                                                       : Norm<std::complex<double>>(std::move(work), plan));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, plan.output));
    CastElements(type, norm.raw_data(), out->dtype(), out->mutable_raw_data(), out->num_elements());
    return OkStatus();
  }

  bool keep_dims;
};

struct L2Loss {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    Tensor x = ctx.input(0);
    using C = typename ComputeTypeOf<AddUp, T>::type;
    if (IsLowPrecision(x.dtype())) {
      ASSIGN_OR_RETURN(x, Widened(x));
    }
    const absl::Span<const C> values = x.values<C>();
    const C loss = SumOfSquares<C>(values) / 2;
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, Shape()));
    *out->mutable_data<T>() = T(loss);
    return OkStatus();
  }

  // In pieces, so that squares need no memory for all of them; the sums of pieces are added in double.
  template <typename C>
  static C SumOfSquares(absl::Span<const C> values) {
    constexpr size_t kPiece = 512;
    C squares[kPiece];
    double sum = 0;
    for (size_t start = 0; start < values.size(); start += kPiece) {
      const size_t size = std::min(kPiece, values.size() - start);
      const C* from = values.data() + start;
#pragma GCC ivdep
      for (size_t i = 0; i < size; ++i) squares[i] = from[i] * from[i];
      sum += FoldRow<AddUp, C>(squares, static_cast<int64_t>(size));
    }
    return static_cast<C>(sum);
  }
};

Status L2LossGradient(GradientScope& g) { return g.Return({g.Mul(g.input(0), g.grad(0))}); }

const OpRegistrar kOps[] = {
    ReductionOp("EuclideanNorm").Attr("T: NUM").Cpu(AnyType<EuclideanNorm>()).Gradient(EuclideanNormGradient),
    OpBuilder("L2Loss").Input("t: T").Output("output: T").Attr("T: FLT").Shape(ScalarOutputs).Cpu(ForFloating<L2Loss>()).Gradient(L2LossGradient),
};

}  // namespace
}  // namespace tandem
