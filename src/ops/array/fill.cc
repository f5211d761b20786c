// Fill, Empty, ZerosLike, OnesLike: one value everywhere.
#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"
#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

StatusOr<Shape> ShapeFromInput(const Tensor& dims, absl::string_view what) {
  if (dims.shape().rank() > 1 || (dims.shape().is_scalar() && what != "dims")) {
    return InvalidArgument(what, " must represent a vector, got shape ", dims.shape().ToString());
  }
  ASSIGN_OR_RETURN(Integers sizes, ReadIntegers(dims));
  return Shape::Checked(sizes);
}

struct Fill {
  Status Run(KernelContext& ctx) const {
    const Tensor& value = ctx.input(1);
    ASSIGN_OR_RETURN(Shape shape, ShapeFromInput(ctx.input(0), "dims"));
    if (value.num_elements() != 1 || value.shape().rank() > 1) return InvalidArgument("value must represent a scalar, got shape ", value.shape().ToString());
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    int64_t count = shape.num_elements();
    StridedCopy({count}, value, 0, {0}, output, 0, {1});
    return OkStatus();
  }
};

Status FillGradient(GradientScope& g) {
  Output rank = g.Op("Rank", {g.grad(0)});
  Output all = g.Op("Range", {g.Scalar(0, kInt32), rank, g.Scalar(1, kInt32)});
  return g.Return({Output(), g.Op("Sum", {g.grad(0), all})});
}

struct Empty {
  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(Shape shape, ShapeFromInput(ctx.input(0), "shape"));
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    // Zeros even if attr `init` does not ask for them: memory of another step must not leak out.
    SetToZero(output);
    return OkStatus();
  }
};

struct ZerosLike {
  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(Tensor* output, ctx.ForwardOrAllocate({0}, 0, ctx.input(0).shape()));
    SetToZero(output);
    return OkStatus();
  }
};

struct OnesLike {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(Tensor* output, ctx.ForwardOrAllocate({0}, 0, ctx.input(0).shape()));
    for (T& element : output->mutable_values<T>()) element = T(1.0f);
    return OkStatus();
  }
};

DEFINE_OP("Fill")
    .Input("dims: index_type")
    .Input("value: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("index_type: IDX = int32")
    .Shape(ShapeFromInput0)
    .Cpu(AnyType<Fill>())
    .Gradient(FillGradient);

DEFINE_OP("Empty")
    .Input("shape: int32")
    .Output("output: dtype")
    .Attr("dtype: type")
    .Attr("init: bool = false")
    .Stateful()
    .Shape(ShapeFromInput0)
    .Cpu(AnyType<Empty>())
    .NoGradient();

DEFINE_OP("ZerosLike").Input("x: T").Output("y: T").Attr("T: type").Shape(SameAsInput0).Cpu(AnyType<ZerosLike>()).NoGradient();

DEFINE_OP("OnesLike")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: ARITH + {bool}")
    .Shape(SameAsInput0)
    .Cpu(ForTypes<OnesLike, float, double, int32_t, uint8_t, int16_t, int8_t, int64_t, BFloat16, uint16_t, Half, uint32_t, uint64_t, std::complex<float>,
                  std::complex<double>, bool>())
    .NoGradient();

}  // namespace
}  // namespace tandem
