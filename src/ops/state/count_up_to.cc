// CountUpTo and ResourceCountUpTo: a counter that ends with OutOfRange.
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "kernel/variable_access.h"

namespace tandem {
namespace {

struct CountUpTo {
  explicit CountUpTo(const Attrs& attrs) : limit(attrs.GetInt("limit")) {}

  template <typename T>
  Status Run(KernelContext& ctx) const {
    VariableUpdate update;
    RETURN_IF_ERROR(update.Open(ctx, {0}, DataTypeOf<T>::value, /*use_locking=*/true, absl::StatusCode::kNotFound));
    Tensor& counter = update.value(0);
    if (!counter.shape().is_scalar()) return InvalidArgument("input is not a scalar: ", counter.shape().ToString());
    T* count = counter.mutable_data<T>();
    if (*count >= limit) return OutOfRange("Reached limit of ", limit);
    ASSIGN_OR_RETURN(Tensor* before, ctx.Allocate(0, Shape()));
    *before->mutable_data<T>() = (*count)++;
    return OkStatus();
  }

  const int64_t limit;
};

DEFINE_OP("CountUpTo")
    .Input("ref: Ref(T)")
    .Output("output: T")
    .Attr("limit: int")
    .Attr("T: IDX")
    .Shape(ScalarOutputs)
    .Cpu(ForTypes<CountUpTo, int32_t, int64_t>())
    .NoGradient();

DEFINE_OP("ResourceCountUpTo")
    .Input("resource: resource")
    .Output("output: T")
    .Attr("limit: int")
    .Attr("T: IDX")
    .Stateful()
    .Shape(ScalarOutputs)
    .Cpu(ForTypes<CountUpTo, int32_t, int64_t>())
    .NoGradient();

}  // namespace
}  // namespace tandem
