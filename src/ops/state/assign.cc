// Assign, AssignAdd, AssignSub: new values for reference variables.
#include <cstring>
#include <functional>

#include "graph/op.h"
#include "graph/shape_inference.h"
#include "kernel/variable_access.h"

namespace tandem {
namespace {

struct Assign {
  explicit Assign(const Attrs& attrs) : validate_shape(attrs.GetBool("validate_shape")) {}

  Status Run(KernelContext& ctx) const {
    const std::shared_ptr<VariableStorage>& variable = ctx.ref_input(0);
    MutexLock lock(&variable->mu);
    const Tensor& value = ctx.input(1);
    RETURN_IF_ERROR(Check(*variable, value));
    Tensor& old = variable->value;
    // A unique input is taken over by TakeOrCopyInput. Otherwise its numbers are copied, without a new buffer where nobody reads the old one.
    if (!value.is_unique() && old.is_unique() && old.dtype() == value.dtype() && old.shape() == value.shape() && IsPlainData(old.dtype())) {
      std::memcpy(old.mutable_raw_data(), value.raw_data(), value.byte_size());
    } else {
      old = TakeOrCopyInput(ctx, 1);
    }
    ctx.set_ref_output(0, variable);
    return OkStatus();
  }

  Status Check(VariableStorage& variable, const Tensor& value) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(variable.mu) {
    const auto* declared = dynamic_cast<const RefVariable*>(&variable);
    const DataType dtype = declared != nullptr && declared->dtype() != kInvalid ? declared->dtype() : variable.value.dtype();
    if (dtype != kInvalid && dtype != value.dtype()) {
      return InvalidArgument("variable ", variable.name(), " is of type ", DataTypeName(dtype), ", the value of type ", DataTypeName(value.dtype()));
    }
    if (!validate_shape) return OkStatus();
    const PartialShape wanted = variable.value.has_value() ? PartialShape(variable.value.shape()) : declared != nullptr ? declared->shape() : PartialShape();
    if (wanted.Allows(value.shape())) return OkStatus();
    return InvalidArgument("Assign requires shapes of both tensors to match. lhs shape= ", wanted.ToString(), " rhs shape= ", value.shape().ToString());
  }

  const bool validate_shape;
};

Status AssignShape(ShapeContext& ctx) {
  if (!ctx.attrs().GetBool("validate_shape")) {
    ctx.set_output(0, ctx.input(1));
    return OkStatus();
  }
  ASSIGN_OR_RETURN(PartialShape both, PartialShape::Merge(ctx.input(0), ctx.input(1)));
  ctx.set_output(0, std::move(both));
  return OkStatus();
}

DEFINE_OP("Assign")
    .Input("ref: Ref(T)")
    .Input("value: T")
    .Output("output_ref: Ref(T)")
    .Attr("T: type")
    .Attr("validate_shape: bool = true")
    .Attr("use_locking: bool = true")
    .AllowsUninitializedInput()
    .Shape(AssignShape)
    .Cpu(AnyType<Assign>())
    .NoGradient();

template <template <typename> class Operation>
struct AssignUpdate {
  explicit AssignUpdate(const Attrs& attrs) : use_locking(attrs.GetBool("use_locking")) {}

  template <typename T>
  Status Run(KernelContext& ctx) const {
    VariableUpdate update;
    RETURN_IF_ERROR(update.Open(ctx, {0}, DataTypeOf<T>::value, use_locking));
    const Tensor& by = ctx.input(1);
    if (by.shape() != update.value(0).shape()) {
      return InvalidArgument("Parameters and update must be the same size, got ", update.value(0).shape().ToString(), " and ", by.shape().ToString());
    }
    T* value = update.value(0).mutable_data<T>();
    const T* addend = by.data<T>();
    const int64_t count = by.num_elements();
    for (int64_t i = 0; i < count; ++i) value[i] = Operation<T>()(value[i], addend[i]);
    ctx.set_ref_output(0, update.variable(0));
    return OkStatus();
  }

  const bool use_locking;
};

Status MergeInputs(ShapeContext& ctx) {
  ASSIGN_OR_RETURN(PartialShape both, PartialShape::Merge(ctx.input(0), ctx.input(1)));
  ctx.set_output(0, std::move(both));
  return OkStatus();
}

DEFINE_OP("AssignAdd")
    .Input("ref: Ref(T)")
    .Input("value: T")
    .Output("output_ref: Ref(T)")
    .Attr("T: NUM")
    .Attr("use_locking: bool = false")
    .Shape(MergeInputs)
    .Cpu(ForArithmetic<AssignUpdate<std::plus>>())
    .NoGradient();

DEFINE_OP("AssignSub")
    .Input("ref: Ref(T)")
    .Input("value: T")
    .Output("output_ref: Ref(T)")
    .Attr("T: NUM")
    .Attr("use_locking: bool = false")
    .Shape(MergeInputs)
    .Cpu(ForArithmetic<AssignUpdate<std::minus>>())
    .NoGradient();

}  // namespace
}  // namespace tandem
