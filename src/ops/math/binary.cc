#include "ops/math/binary.h"

#include "ops/math/broadcast.h"
#include "ops/math/low_precision.h"

namespace tandem {
namespace {

// Runs `function` over tensors of the types that it computes with; `out` has the plan's shape.
void Compute(const BroadcastPlan& plan, BinaryFunction function, const Tensor& x, const Tensor& y, Tensor* out) {
  const int inner = plan.rank() - 1;
  BinaryLoop loop;
  loop.rows = plan.sizes[inner - 1];
  loop.columns = plan.sizes[inner];
  loop.x_row_stride = plan.strides[0][inner - 1];
  loop.y_row_stride = plan.strides[1][inner - 1];
  loop.is_x_fixed = plan.strides[0][inner] == 0;
  loop.is_y_fixed = plan.strides[1][inner] == 0;
  const size_t in_size = DataTypeSize(x.dtype()), out_size = DataTypeSize(out->dtype());
  const char* x_start = static_cast<const char*>(x.raw_data());
  const char* y_start = static_cast<const char*>(y.raw_data());
  char* out_start = static_cast<char*>(out->mutable_raw_data());
  ForEachBlock(plan, [&](const std::array<int64_t, kMaxBroadcastOperands>& offsets, int64_t output) {
    loop.x = x_start + offsets[0] * in_size;
    loop.y = y_start + offsets[1] * in_size;
    loop.out = out_start + output * out_size;
    function(loop);
  });
}

class BinaryKernel : public Kernel {
 public:
  BinaryKernel(BinaryFunction function, const BinaryOptions& options) : function_(function), options_(options) {}

  Status Run(KernelContext& ctx) override {
    const int first = options_.is_swapped ? 1 : 0;
    const Tensor& x = ctx.input(first);
    const Tensor& y = ctx.input(1 - first);
    StatusOr<BroadcastPlan> plan = PlanBroadcast({&x.shape(), &y.shape()});
    if (!plan.ok()) {
      if (options_.result_if_incompatible.has_value()) {
        ctx.set_output(0, Tensor::Scalar(*options_.result_if_incompatible));
        return OkStatus();
      }
      return PlanBroadcast({&ctx.input(0).shape(), &ctx.input(1).shape()}).status();  // names the operands in order
    }
    if (options_.check != nullptr) RETURN_IF_ERROR(options_.check(x, y, plan->output));
    if (IsLowPrecision(x.dtype())) return RunWidened(ctx, *plan, x, y);
    ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate({0, 1}, 0, plan->output));
    Compute(*plan, function_, x, y, out);
    return OkStatus();
  }

 private:
  Status RunWidened(KernelContext& ctx, const BroadcastPlan& plan, const Tensor& x, const Tensor& y) const {
    ASSIGN_OR_RETURN(Tensor wide_x, Widened(x));
    ASSIGN_OR_RETURN(Tensor wide_y, Widened(y));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, plan.output));
    if (!IsLowPrecision(out->dtype())) {
      Compute(plan, function_, wide_x, wide_y, out);
      return OkStatus();
    }
    ASSIGN_OR_RETURN(Tensor wide_out, ctx.AllocateTemporary(kFloat, plan.output));
    Compute(plan, function_, wide_x, wide_y, &wide_out);
    Narrow(wide_out, out);
    return OkStatus();
  }

  const BinaryFunction function_;
  const BinaryOptions options_;
};

}  // namespace

KernelFactory MakeBinaryKernel(BinaryFunction function, const BinaryOptions& options) {
  return [function, options](const Attrs& attrs) -> StatusOr<std::unique_ptr<Kernel>> {
    BinaryOptions own = options;
    if (own.result_if_incompatible.has_value() && attrs.GetBool("incompatible_shape_error")) own.result_if_incompatible.reset();
    return std::unique_ptr<Kernel>(std::make_unique<BinaryKernel>(function, own));
  };
}

}  // namespace tandem
