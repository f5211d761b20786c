#include "ops/math/reduction_op.h"

#include "ops/math/low_precision.h"

namespace tandem {
namespace {

class ReductionKernel : public Kernel {
 public:
  ReductionKernel(ReduceFunction function, FinishFunction finish, bool keep_dims) : function_(function), finish_(finish), keep_dims_(keep_dims) {}

  Status Run(KernelContext& ctx) override {
    const Tensor& x = ctx.input(0);
    ASSIGN_OR_RETURN(ReductionPlan plan, PlanReduction(x.shape(), ctx.input(1), keep_dims_));
    if (!IsLowPrecision(x.dtype())) {
      ASSIGN_OR_RETURN(Tensor folded, Fold(x, plan));
      ctx.set_output(0, std::move(folded));
      return OkStatus();
    }
    ASSIGN_OR_RETURN(Tensor wide, Widened(x));
    ASSIGN_OR_RETURN(Tensor folded, Fold(wide, plan));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, plan.output));
    Narrow(folded, out);
    return OkStatus();
  }

 private:
  StatusOr<Tensor> Fold(const Tensor& x, const ReductionPlan& plan) const {
    ASSIGN_OR_RETURN(Tensor folded, Reduce(x, plan, function_));
    if (finish_ != nullptr && !folded.SharesBufferWith(x)) finish_(&folded, plan.count);
    return folded;
  }

  const ReduceFunction function_;
  const FinishFunction finish_;
  const bool keep_dims_;
};

}  // namespace

KernelFactory MakeReductionKernel(ReduceFunction function, FinishFunction finish) {
  return [function, finish](const Attrs& attrs) -> StatusOr<std::unique_ptr<Kernel>> {
    return std::unique_ptr<Kernel>(std::make_unique<ReductionKernel>(function, finish, attrs.GetBool("keep_dims")));
  };
}

}  // namespace tandem
