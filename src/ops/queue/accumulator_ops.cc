// The ops on conditional accumulators, dense (by reference and by handle) and sparse; what they mean is in accumulator.h.
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/queue/accumulator.h"
#include "ops/queue/resource_op.h"

namespace tandem {
namespace {

template <typename T>
StatusOr<T> ScalarInput(const KernelContext& ctx, int i, const char* name) {
  const Tensor& input = ctx.input(i);
  if (!input.shape().is_scalar()) return InvalidArgument("Argument ", name, " must be scalar, but had bad shape ", input.shape().ToString());
  return input.scalar<T>();
}

struct AccumulatorOp {
  explicit AccumulatorOp(const Attrs& attrs)
      : spec{attrs.GetType("dtype"), attrs.GetShape("shape"), attrs.GetString("reduction_type") == "MEAN", absl::StartsWith(attrs.op(), "Sparse")},
        owner(attrs, "N10tensorflow31ConditionalAccumulatorBase") {}

  Status Run(KernelContext& ctx) {
    return owner.Output(
        ctx, [this](const std::string& name) { return std::make_shared<Accumulator>(name, spec); },
        [this](const Accumulator& accumulator) { return accumulator.CheckSame(spec); });
  }

  const AccumulatorSpec spec;
  ResourceOwner<Accumulator> owner;
};

Status HandleShape(ShapeContext& ctx) {
  ctx.set_output(0, ctx.attrs().output_types()[0] == kResource ? PartialShape::Scalar() : PartialShape({2}));
  return OkStatus();
}

#define DEFINE_ACCUMULATOR(Name, handle)                        \
  DEFINE_OP(Name)                                               \
      .Output("handle: " handle)                                \
      .Attr("dtype: NUM")                                       \
      .Attr("shape: shape")                                     \
      .Attr("container: string = ''")                           \
      .Attr("shared_name: string = ''")                         \
      .Attr("reduction_type: {'MEAN', 'SUM'} = 'MEAN'")         \
      .Stateful()                                               \
      .Shape(HandleShape)                                       \
      .Cpu(AnyType<AccumulatorOp>())

DEFINE_ACCUMULATOR("ConditionalAccumulator", "Ref(string)");
DEFINE_ACCUMULATOR("ResourceConditionalAccumulator", "resource");
DEFINE_ACCUMULATOR("SparseConditionalAccumulator", "Ref(string)");

StatusOr<std::shared_ptr<Accumulator>> AccumulatorInput(const KernelContext& ctx, bool is_sparse) {
  ASSIGN_OR_RETURN(std::shared_ptr<Accumulator> accumulator, ResourceOrRefInput<Accumulator>(ctx, 0));
  if (accumulator->spec().is_sparse == is_sparse) return accumulator;
  return InvalidArgument("accumulator ", accumulator->name(), " is ", is_sparse ? "dense, this op is for sparse ones" : "sparse, this op is for dense ones");
}

struct ApplyGradient {
  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(std::shared_ptr<Accumulator> accumulator, AccumulatorInput(ctx, /*is_sparse=*/false));
    ASSIGN_OR_RETURN(const int64_t local_step, ScalarInput<int64_t>(ctx, 1, "local_step"));
    return accumulator->Apply(local_step, {Tensor(), ctx.TakeInput(2)});
  }
};

struct SparseApplyGradient {
  explicit SparseApplyGradient(const Attrs& attrs) : has_known_shape(attrs.GetBool("has_known_shape")) {}

  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(std::shared_ptr<Accumulator> accumulator, AccumulatorInput(ctx, /*is_sparse=*/true));
    ASSIGN_OR_RETURN(const int64_t local_step, ScalarInput<int64_t>(ctx, 1, "local_step"));
    if (has_known_shape) RETURN_IF_ERROR(CheckShape(accumulator->spec().shape, ctx.input(4)));
    return accumulator->Apply(local_step, {ctx.TakeInput(2), ctx.TakeInput(3)});
  }

  static Status CheckShape(const PartialShape& wanted, const Tensor& shape) {
    if (shape.shape().rank() != 1) return InvalidArgument("Input shape should be vector but received shape: ", shape.shape().ToString());
    if (!wanted.has_rank()) return OkStatus();
    if (shape.num_elements() != wanted.rank()) return InvalidArgument("Shape mismatch: expected shape rank ", wanted.rank(), ", got ", shape.num_elements());
    for (int d = 0; d < wanted.rank(); ++d) {
      const int64_t size = shape.data<int64_t>()[d];
      if (wanted.dim(d) == kUnknownSize || wanted.dim(d) == size) continue;
      return InvalidArgument("Shape mismatch: expected shape dim ", d, " to be ", wanted.dim(d), ", got ", size);
    }
    return OkStatus();
  }

  const bool has_known_shape;
};

template <bool kIsSparse>
class TakeGradient : public AsyncKernel {
 public:
  void Start(KernelContext& ctx, Done done) override {
    StatusOr<std::shared_ptr<Accumulator>> accumulator = AccumulatorInput(ctx, kIsSparse);
    if (!accumulator.ok()) return done(accumulator.status());
    const AccumulatorSpec& spec = (*accumulator)->spec();
    if (ctx.output_type(kIsSparse ? 1 : 0) != spec.dtype) {
      return done(InvalidArgument("accumulator ", (*accumulator)->name(), " is of type ", DataTypeName(spec.dtype), ", the node wants another one"));
    }
    StatusOr<int32_t> count = ScalarInput<int32_t>(ctx, 1, "num_required");
    if (!count.ok()) return done(count.status());
    (*accumulator)->Take(*count, &ctx.cancellation(), [&ctx, shape = spec.shape, done = std::move(done)](const Status& status, AccumulatedGradient average) {
      if (status.ok()) SetOutputs(ctx, shape, std::move(average));
      done(status);
    });
  }

 private:
  static void SetOutputs(KernelContext& ctx, const PartialShape& shape, AccumulatedGradient average) {
    if (!kIsSparse) return ctx.set_output(0, std::move(average.values));
    std::vector<int64_t> sizes(average.values.shape().dims().begin(), average.values.shape().dims().end());
    sizes[0] = shape.has_rank() && shape.rank() > 0 ? shape.dim(0) : -1;
    ctx.set_output(0, std::move(average.indices));
    ctx.set_output(1, std::move(average.values));
    ctx.set_output(2, Tensor::Vector<int64_t>(sizes));
  }
};

struct NumAccumulated {
  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(std::shared_ptr<Accumulator> accumulator, ResourceOrRefInput<Accumulator>(ctx, 0));
    ASSIGN_OR_RETURN(Tensor* count, ctx.Allocate(0, Shape()));
    *count->mutable_data<int32_t>() = accumulator->num_accumulated();
    return OkStatus();
  }
};

struct SetGlobalStep {
  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(std::shared_ptr<Accumulator> accumulator, ResourceOrRefInput<Accumulator>(ctx, 0));
    ASSIGN_OR_RETURN(const int64_t step, ScalarInput<int64_t>(ctx, 1, "new_global_step"));
    accumulator->SetGlobalStep(step);
    return OkStatus();
  }
};

DEFINE_OP("AccumulatorApplyGradient")
    .Input("handle: Ref(string)")
    .Input("local_step: int64")
    .Input("gradient: dtype")
    .Attr("dtype: NUM")
    .Shape(NoOutputs)
    .Cpu(AnyType<ApplyGradient>())
    .NoGradient();

DEFINE_OP("ResourceAccumulatorApplyGradient")
    .Input("handle: resource")
    .Input("local_step: int64")
    .Input("gradient: dtype")
    .Attr("dtype: NUM")
    .Stateful()
    .Shape(NoOutputs)
    .Cpu(AnyType<ApplyGradient>())
    .NoGradient();

DEFINE_OP("SparseAccumulatorApplyGradient")
    .Input("handle: Ref(string)")
    .Input("local_step: int64")
    .Input("gradient_indices: int64")
    .Input("gradient_values: dtype")
    .Input("gradient_shape: int64")
    .Attr("dtype: NUM")
    .Attr("has_known_shape: bool")
    .Shape(NoOutputs)
    .Cpu(AnyType<SparseApplyGradient>())
    .NoGradient();

DEFINE_OP("AccumulatorTakeGradient")
    .Input("handle: Ref(string)")
    .Input("num_required: int32")
    .Output("average: dtype")
    .Attr("dtype: NUM")
    .Shape(UnknownShapes)
    .Cpu(AnyType<TakeGradient<false>>())
    .NoGradient();

DEFINE_OP("ResourceAccumulatorTakeGradient")
    .Input("handle: resource")
    .Input("num_required: int32")
    .Output("average: dtype")
    .Attr("dtype: NUM")
    .Stateful()
    .Shape(UnknownShapes)
    .Cpu(AnyType<TakeGradient<false>>())
    .NoGradient();

DEFINE_OP("SparseAccumulatorTakeGradient")
    .Input("handle: Ref(string)")
    .Input("num_required: int32")
    .Output("indices: int64")
    .Output("values: dtype")
    .Output("shape: int64")
    .Attr("dtype: NUM")
    .Shape(UnknownShapes)
    .Cpu(AnyType<TakeGradient<true>>())
    .NoGradient();

DEFINE_OP("AccumulatorNumAccumulated")
    .Input("handle: Ref(string)")
    .Output("num_accumulated: int32")
    .Shape(ScalarOutputs)
    .Cpu(AnyType<NumAccumulated>())
    .NoGradient();

DEFINE_OP("ResourceAccumulatorNumAccumulated")
    .Input("handle: resource")
    .Output("num_accumulated: int32")
    .Stateful()
    .Shape(ScalarOutputs)
    .Cpu(AnyType<NumAccumulated>())
    .NoGradient();

DEFINE_OP("AccumulatorSetGlobalStep")
    .Input("handle: Ref(string)")
    .Input("new_global_step: int64")
    .Shape(NoOutputs)
    .Cpu(AnyType<SetGlobalStep>())
    .NoGradient();

DEFINE_OP("ResourceAccumulatorSetGlobalStep")
    .Input("handle: resource")
    .Input("new_global_step: int64")
    .Stateful()
    .Shape(NoOutputs)
    .Cpu(AnyType<SetGlobalStep>())
    .NoGradient();

}  // namespace
}  // namespace tandem
