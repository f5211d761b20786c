// Shape, ShapeN, Size, Rank: what a kernel can say of a tensor without looking inside.
#include <limits>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"

namespace tandem {
namespace {

struct ShapeOf {
  Status Run(KernelContext& ctx) const {
    for (int i = 0; i < ctx.num_inputs(); ++i) {
      ASSIGN_OR_RETURN(Tensor shape, MakeVector(ctx.output_type(i), ctx.input(i).shape().dims()));
      ctx.set_output(i, std::move(shape));
    }
    return OkStatus();
  }
};

Status ShapeOfShape(ShapeContext& ctx) {
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    ctx.set_output(i, PartialShape{ctx.input(i).has_rank() ? ctx.input(i).rank() : kUnknownSize});
  }
  return OkStatus();
}

struct Size {
  Status Run(KernelContext& ctx) const {
    int64_t size = ctx.input(0).num_elements();
    if (ctx.output_type(0) == kInt64) {
      ctx.set_output(0, Tensor(size));
    } else if (size > std::numeric_limits<int32_t>::max()) {
      return InvalidArgument("Number of elements was larger than representable by 32-bit output type");
    } else {
      ctx.set_output(0, Tensor(static_cast<int32_t>(size)));
    }
    return OkStatus();
  }
};

struct Rank {
  Status Run(KernelContext& ctx) const {
    ctx.set_output(0, Tensor(static_cast<int32_t>(ctx.input(0).shape().rank())));
    return OkStatus();
  }
};

DEFINE_OP("Shape")
    .Input("input: T")
    .Output("output: out_type")
    .Attr("T: type")
    .Attr("out_type: IDX = int32")
    .Shape(ShapeOfShape)
    .Cpu(AnyType<ShapeOf>())
    .NoGradient();

DEFINE_OP("ShapeN")
    .Input("input: N * T")
    .Output("output: N * out_type")
    .Attr("N: int >= 1")
    .Attr("T: type")
    .Attr("out_type: IDX = int32")
    .Shape(ShapeOfShape)
    .Cpu(AnyType<ShapeOf>())
    .NoGradient();

DEFINE_OP("Size")
    .Input("input: T")
    .Output("output: out_type")
    .Attr("T: type")
    .Attr("out_type: IDX = int32")
    .Shape(ScalarOutputs)
    .Cpu(AnyType<Size>())
    .NoGradient();

DEFINE_OP("Rank").Input("input: T").Output("output: int32").Attr("T: type").Shape(ScalarOutputs).Cpu(AnyType<Rank>()).NoGradient();

}  // namespace
}  // namespace tandem
