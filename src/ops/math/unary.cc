#include "ops/math/unary.h"

#include "ops/math/low_precision.h"

namespace tandem {
namespace {

class UnaryKernel : public Kernel {
 public:
  explicit UnaryKernel(UnaryFunction function) : function_(function) {}

  Status Run(KernelContext& ctx) override {
    const Tensor& x = ctx.input(0);
    const int64_t count = x.num_elements();
    if (!IsLowPrecision(x.dtype())) {
      ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate({0}, 0, x.shape()));
      function_(x.raw_data(), out->mutable_raw_data(), count);
      return OkStatus();
    }
    ASSIGN_OR_RETURN(Tensor wide, Widened(x));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, x.shape()));
    if (!IsLowPrecision(out->dtype())) {
      function_(wide.raw_data(), out->mutable_raw_data(), count);
      return OkStatus();
    }
    function_(wide.raw_data(), wide.mutable_raw_data(), count);
    Narrow(wide, out);
    return OkStatus();
  }

 private:
  const UnaryFunction function_;
};

}  // namespace

KernelFactory MakeUnaryKernel(UnaryFunction function) {
  return [function](const Attrs&) -> StatusOr<std::unique_ptr<Kernel>> { return std::unique_ptr<Kernel>(std::make_unique<UnaryKernel>(function)); };
}

}  // namespace tandem
