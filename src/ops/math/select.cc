// Select and SelectV2: elements of one tensor or the other, as a condition says. They only move data, so types of one size share
// their code.
#include <complex>
#include <string>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/math/broadcast.h"

namespace tandem {
namespace {

struct Bytes16 {
  uint64_t words[2];
};

struct SelectLoop {
  const bool* condition;
  const void* t;
  const void* e;
  void* out;
  int64_t condition_stride, t_stride, e_stride;  // elements; 0 or 1
};

template <typename U>
void SelectRow(const SelectLoop& loop, int64_t count) {
  const U* t = static_cast<const U*>(loop.t);
  const U* e = static_cast<const U*>(loop.e);
  U* out = static_cast<U*>(loop.out);
  if (loop.condition_stride == 0) {
    const U* chosen = *loop.condition ? t : e;
    const int64_t stride = *loop.condition ? loop.t_stride : loop.e_stride;
    for (int64_t i = 0; i < count; ++i) out[i] = chosen[i * stride];
  } else if (loop.t_stride == 1 && loop.e_stride == 1) {
    for (int64_t i = 0; i < count; ++i) out[i] = loop.condition[i] ? t[i] : e[i];
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = loop.condition[i] ? t[i * loop.t_stride] : e[i * loop.e_stride];
  }
}

using SelectFunction = void (*)(const SelectLoop& loop, int64_t count);

SelectFunction FindSelect(DataType type) {
  if (type == kString) return SelectRow<std::string>;
  if (type == kResource) return SelectRow<ResourceHandle>;
  switch (DataTypeSize(type)) {
    case 1:
      return SelectRow<uint8_t>;
    case 2:
      return SelectRow<uint16_t>;
    case 4:
      return SelectRow<uint32_t>;
    case 8:
      return SelectRow<uint64_t>;
    case 16:
      return SelectRow<Bytes16>;
    default:
      return nullptr;
  }
}

struct SelectBase {
  explicit SelectBase(const Attrs& attrs) : function(FindSelect(attrs.GetType("T"))) {
    if (function == nullptr) attrs.Fail(Unimplemented(attrs.op(), " of ", DataTypeName(attrs.GetType("T"))));
  }

  SelectFunction function;
};

// Operands stretch to a common shape.
struct SelectV2 : SelectBase {
  using SelectBase::SelectBase;

  Status Run(KernelContext& ctx) const {
    const Tensor& condition = ctx.input(0);
    const Tensor& t = ctx.input(1);
    const Tensor& e = ctx.input(2);
    StatusOr<BroadcastPlan> plan = PlanBroadcast({&condition.shape(), &t.shape(), &e.shape()});
    if (!plan.ok()) {
      return InvalidArgument("condition ", condition.shape().ToString(), ", then ", t.shape().ToString(), ", and else ", e.shape().ToString(),
                             " must be broadcastable");
    }
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, plan->output));
    const size_t size = DataTypeSize(out->dtype());
    const int inner = plan->rank() - 1;
    const auto row_stride = [&](int operand) { return plan->strides[operand][inner - 1]; };
    const auto at = [size](const Tensor& x, int64_t element) { return static_cast<const char*>(x.raw_data()) + element * size; };
    SelectLoop loop{nullptr, nullptr, nullptr, nullptr, plan->strides[0][inner], plan->strides[1][inner], plan->strides[2][inner]};
    ForEachBlock(*plan, [&](const std::array<int64_t, kMaxBroadcastOperands>& offsets, int64_t output) {
      for (int64_t row = 0; row < plan->sizes[inner - 1]; ++row) {
        loop.condition = condition.data<bool>() + offsets[0] + row * row_stride(0);
        loop.t = at(t, offsets[1] + row * row_stride(1));
        loop.e = at(e, offsets[2] + row * row_stride(2));
        loop.out = static_cast<char*>(out->mutable_raw_data()) + (output + row * plan->sizes[inner]) * size;
        function(loop, plan->sizes[inner]);
      }
    });
    return OkStatus();
  }
};

// The condition has the operands' shape, or is a scalar, or a vector that chooses rows.
struct Select : SelectBase {
  using SelectBase::SelectBase;

  Status Run(KernelContext& ctx) const {
    const Tensor& condition = ctx.input(0);
    const Tensor& t = ctx.input(1);
    const Tensor& e = ctx.input(2);
    if (t.shape() != e.shape()) {
      return InvalidArgument("'then' and 'else' must have the same size.  but received: ", t.shape().ToString(), " vs. ", e.shape().ToString());
    }
    int64_t row_size = 1;
    if (condition.shape() != t.shape()) {
      const bool is_scalar = condition.shape().is_scalar();
      if (!is_scalar && (condition.shape().rank() != 1 || t.shape().rank() == 0 || condition.shape().dim(0) != t.shape().dim(0))) {
        return InvalidArgument("'then' and 'cond' must have the same size.  but received: ", t.shape().ToString(), " vs. ", condition.shape().ToString());
      }
      const int64_t rows = condition.num_elements();
      row_size = rows == 0 ? 0 : t.num_elements() / rows;
    }
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, t.shape()));
    if (out->num_elements() == 0) return OkStatus();
    const char* t_bytes = static_cast<const char*>(t.raw_data());
    const char* e_bytes = static_cast<const char*>(e.raw_data());
    char* out_bytes = static_cast<char*>(out->mutable_raw_data());
    if (row_size == 1) {
      function({condition.data<bool>(), t_bytes, e_bytes, out_bytes, 1, 1, 1}, out->num_elements());
      return OkStatus();
    }
    const size_t row_bytes = row_size * DataTypeSize(out->dtype());
    for (int64_t row = 0; row < condition.num_elements(); ++row) {
      function({condition.data<bool>() + row, t_bytes + row * row_bytes, e_bytes + row * row_bytes, out_bytes + row * row_bytes, 0, 1, 1}, row_size);
    }
    return OkStatus();
  }
};

Status SelectShape(ShapeContext& ctx) {
  ASSIGN_OR_RETURN(PartialShape shape, PartialShape::Merge(ctx.input(1), ctx.input(2)));
  ctx.set_output(0, shape);
  return OkStatus();
}

Status SelectV2Shape(ShapeContext& ctx) {
  ASSIGN_OR_RETURN(PartialShape values, BroadcastShapes(ctx.input(1), ctx.input(2)));
  ASSIGN_OR_RETURN(PartialShape shape, BroadcastShapes(ctx.input(0), values));
  ctx.set_output(0, shape);
  return OkStatus();
}

Status SelectGradient(GradientScope& g) {
  const Output zeros = g.Op("ZerosLike", {g.input(1)});
  return g.Return({Output(), g.Op("Select", {g.input(0), g.grad(0), zeros}), g.Op("Select", {g.input(0), zeros, g.grad(0)})});
}

Status SelectV2Gradient(GradientScope& g) {
  const Output zero = g.Scalar(0, g.input(1));
  const Output dt = g.Op("SelectV2", {g.input(0), g.grad(0), zero});
  const Output de = g.Op("SelectV2", {g.input(0), zero, g.grad(0)});
  // Each is summed back from the output's shape to its own.
  const Output t = g.ReduceBroadcast(dt, Output(), g.input(1), g.output(0)).first;
  const Output e = g.ReduceBroadcast(de, Output(), g.input(2), g.output(0)).first;
  return g.Return({Output(), t, e});
}

OpBuilder SelectOp(const char* name) { return OpBuilder(name).Input("condition: bool").Input("t: T").Input("e: T").Output("output: T").Attr("T: type"); }

const OpRegistrar kOps[] = {
    SelectOp("Select").Shape(SelectShape).Cpu(AnyType<Select>()).Gradient(SelectGradient),
    SelectOp("SelectV2").Shape(SelectV2Shape).Cpu(AnyType<SelectV2>()).Gradient(SelectV2Gradient),
};

}  // namespace
}  // namespace tandem
