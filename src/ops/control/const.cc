// Const: a value that is part of the graph.
#include <utility>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"

namespace tandem {
namespace {

struct Const {
  explicit Const(const Attrs& attrs) {
    StatusOr<Tensor> decoded = attrs.GetTensor("value");
    if (!decoded.ok()) {
      attrs.Fail(decoded.status());
    } else if (decoded->dtype() != attrs.GetType("dtype")) {
      attrs.Fail(InvalidArgument("Const has a value of type ", DataTypeName(decoded->dtype()), ", its attr dtype says ",
                                 DataTypeName(attrs.GetType("dtype"))));
    } else {
      value = *std::move(decoded);
    }
  }

  Status Run(KernelContext& ctx) const {
    ctx.set_output(0, value);
    return OkStatus();
  }

  Tensor value;
};

Status ConstShape(ShapeContext& ctx) {
  ASSIGN_OR_RETURN(Tensor value, ctx.attrs().GetTensor("value"));
  ctx.set_output(0, value.shape());
  return OkStatus();
}

DEFINE_OP("Const").Output("output: dtype").Attr("value: tensor").Attr("dtype: type").Shape(ConstShape).Cpu(AnyType<Const>()).NoGradient();

}  // namespace
}  // namespace tandem
