// Sum and Mean over axes.
#include <algorithm>

#include "ops/math/cast.h"
#include "ops/math/reduction_gradients.h"
#include "ops/math/reduction_op.h"

namespace tandem {
namespace {

template <typename T>
void DivideByCount(Tensor* sums, int64_t count) {
  T* values = sums->mutable_data<T>();
  const int64_t size = sums->num_elements();
  if constexpr (std::is_integral_v<T>) {
    const T divisor = static_cast<T>(std::max<int64_t>(count, 1));  // the mean of no integers is 0
    for (int64_t i = 0; i < size; ++i) values[i] /= divisor;
  } else {
    const T divisor = static_cast<T>(static_cast<double>(count));
    for (int64_t i = 0; i < size; ++i) values[i] /= divisor;
  }
}

// Sums of small integers are made in int64, so that they do not overflow before the division.
struct IntegerMean {
  explicit IntegerMean(const Attrs& attrs) : keep_dims(attrs.GetBool("keep_dims")) {}

  Status Run(KernelContext& ctx) const {
    const Tensor& x = ctx.input(0);
    ASSIGN_OR_RETURN(ReductionPlan plan, PlanReduction(x.shape(), ctx.input(1), keep_dims));
    ASSIGN_OR_RETURN(Tensor wide, ctx.AllocateTemporary(kInt64, x.shape()));
    CastElements(x.dtype(), x.raw_data(), kInt64, wide.mutable_raw_data(), x.num_elements());
    ASSIGN_OR_RETURN(Tensor mean, Reduce(wide, plan, &RunReduceLoop<AddUp, uint64_t>));
    DivideByCount<int64_t>(&mean, plan.count);
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, plan.output));
    CastElements(kInt64, mean.raw_data(), out->dtype(), out->mutable_raw_data(), out->num_elements());
    return OkStatus();
  }

  bool keep_dims;
};

template <typename T>
KernelSet MeanKernels() {
  return ReductionKernels<AddUp, T>(DivideByCount<typename ComputeTypeOf<AddUp, T>::type>);
}

KernelSet IntegerMeanKernels() {
  const KernelFactory factory = AnyType<IntegerMean>().by_type[0].second;
  return {"T", {{kInt8, factory}, {kInt16, factory}, {kInt32, factory}, {kInt64, factory}, {kUint8, factory}, {kUint16, factory}, {kUint32, factory}}};
}

const OpRegistrar kOps[] = {
    ReductionOp("Sum")
        .Attr("T: NUM")
        .Cpu(ReductionKernels<AddUp, float, double, int32_t, uint8_t, int16_t, int8_t, int64_t, BFloat16, uint16_t, Half, uint32_t, uint64_t,
                              std::complex<float>, std::complex<double>>())
        .Gradient(SumGradient),
    ReductionOp("Mean")
        .Attr("T: NUM")
        .Cpu(MeanKernels<float>())
        .Cpu(MeanKernels<double>())
        .Cpu(MeanKernels<Half>())
        .Cpu(MeanKernels<BFloat16>())
        .Cpu(MeanKernels<std::complex<float>>())
        .Cpu(MeanKernels<std::complex<double>>())
        .Cpu(MeanKernels<uint64_t>())
        .Cpu(IntegerMeanKernels())
        .Gradient(MeanGradient),
};

}  // namespace
}  // namespace tandem
