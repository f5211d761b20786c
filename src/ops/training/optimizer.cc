#include "ops/training/optimizer.h"

#include <deque>

#include "absl/strings/match.h"
#include "graph/shape_inference.h"
#include "kernel/variable_access.h"

namespace tandem {
namespace {

bool IsGradient(const std::string& input) { return input == "grad" || input == "delta"; }

StatusOr<double> ScalarInput(const Tensor& input, const std::string& name) {
  if (!input.shape().is_scalar()) return InvalidArgument(name, " is not a scalar: ", input.shape().ToString());
  switch (input.dtype()) {
    case kFloat: return input.scalar<float>();
    case kDouble: return input.scalar<double>();
    case kHalf: return static_cast<float>(input.scalar<Half>());
    case kBfloat16: return static_cast<float>(input.scalar<BFloat16>());
    case kInt64: return static_cast<double>(input.scalar<int64_t>());
    default: return InvalidArgument(name, " has type ", DataTypeName(input.dtype()), ", which this update does not know");
  }
}

Status CheckSparse(const Tensor& var, const Tensor& grad, const Tensor& indices) {
  if (var.shape().rank() < 1) return InvalidArgument("var must be at least 1 dimensional");
  if (indices.shape().rank() != 1) return InvalidArgument("indices must be one-dimensional, got ", indices.shape().ToString());
  if (grad.shape().rank() != var.shape().rank()) {
    return InvalidArgument("var and grad must have the same rank, got ", var.shape().ToString(), " and ", grad.shape().ToString());
  }
  if (grad.shape().dim(0) != indices.num_elements()) {
    return InvalidArgument("grad must be the same size as indices in the first dimension, got ", grad.shape().ToString(), " and ", indices.shape().ToString());
  }
  for (int d = 1; d < var.shape().rank(); ++d) {
    if (var.shape().dim(d) != grad.shape().dim(d)) {
      return InvalidArgument("var and grad must match in dimension ", d, ", got ", var.shape().ToString(), " and ", grad.shape().ToString());
    }
  }
  return OkStatus();
}

}  // namespace

OptimizerKernel::OptimizerKernel(const Attrs& attrs, const OptimizerSpec& spec)
    : spec_(spec), dtype_(attrs.GetType("T")), use_locking_(attrs.GetBool("use_locking")) {
  if (attrs.Has("use_nesterov")) flags_.use_nesterov = attrs.GetBool("use_nesterov");
  if (attrs.Has("update_slots")) flags_.update_slots = attrs.GetBool("update_slots");
  if (attrs.Has("multiply_linear_by_lr")) flags_.multiply_linear_by_lr = attrs.GetBool("multiply_linear_by_lr");
  for (size_t i = 0; i < spec.variables.size(); ++i) variable_inputs_.push_back(static_cast<int>(i));
}

Status OptimizerKernel::Run(KernelContext& ctx) {
  VariableUpdate variables;
  RETURN_IF_ERROR(variables.Open(ctx, variable_inputs_, dtype_, use_locking_));
  Update update;
  for (size_t i = 0; i < spec_.variables.size(); ++i) update.values[i] = &variables.value(static_cast<int>(i));
  RETURN_IF_ERROR(ReadInputs(ctx, &update));
  RETURN_IF_ERROR(CheckShapes(update));
  const int64_t bad = Apply(update);
  if (bad >= 0) return InvalidArgument("Index ", IndexReader(*update.indices)[bad], " at offset ", bad, " in indices is out of range");
  if (ctx.num_outputs() > 0) ctx.set_ref_output(0, variables.variable(0));
  return OkStatus();
}

Status OptimizerKernel::ReadInputs(KernelContext& ctx, Update* update) const {
  const bool is_sparse = ctx.num_inputs() > static_cast<int>(spec_.variables.size() + spec_.inputs.size());
  int input = static_cast<int>(spec_.variables.size());
  int scalar = 0;
  for (const std::string& name : spec_.inputs) {
    if (!IsGradient(name)) {
      ASSIGN_OR_RETURN(update->scalars[scalar++], ScalarInput(ctx.input(input++), name));
      continue;
    }
    update->grad = &ctx.input(input++);
    if (is_sparse) update->indices = &ctx.input(input++);
  }
  if (spec_.check != nullptr) return spec_.check(flags_, is_sparse, absl::MakeConstSpan(update->scalars.data(), scalar));
  return OkStatus();
}

Status OptimizerKernel::CheckShapes(const Update& update) const {
  const Tensor& var = *update.values[0];
  for (size_t i = 1; i < spec_.variables.size(); ++i) {
    if (update.values[i]->shape() == var.shape()) continue;
    return InvalidArgument("var and ", spec_.variables[i], " do not have the same shape", var.shape().ToString(), " ", update.values[i]->shape().ToString());
  }
  if (update.indices != nullptr) return CheckSparse(var, *update.grad, *update.indices);
  if (update.grad->shape() == var.shape()) return OkStatus();
  for (const std::string& name : spec_.inputs) {
    if (IsGradient(name)) return InvalidArgument("var and ", name, " do not have the same shape", var.shape().ToString(), " ", update.grad->shape().ToString());
  }
  return Internal("the optimizer ", spec_.name, " has no gradient");
}

namespace internal {

void RegisterOptimizer(const OptimizerSpec& spec, const KernelSet& kernels) {
  // OpBuilder keeps pointers to its texts.
  static auto& texts = *new std::deque<std::string>();
  const auto keep = [](std::string text) { return texts.emplace_back(std::move(text)).c_str(); };

  for (const std::string& form : spec.forms) {
    const bool is_resource = absl::StartsWith(form, "Resource"), is_sparse = absl::StrContains(form, "Sparse");
    OpBuilder builder(keep(form + spec.name));
    for (const std::string& name : spec.variables) std::move(builder).Input(keep(name + (is_resource ? ": resource" : ": Ref(T)")));
    for (const std::string& name : spec.inputs) {
      const bool is_gradient = IsGradient(name);
      std::move(builder).Input(keep((is_gradient && is_sparse ? "grad" : name) + (name == "global_step" ? ": int64" : ": T")));
      if (is_gradient && is_sparse) std::move(builder).Input("indices: Tindices");
    }
    if (!is_resource) std::move(builder).Output("out: Ref(T)");
    std::move(builder).Attr("T: NUM");
    if (is_sparse) std::move(builder).Attr("Tindices: IDX");
    std::move(builder).Attr("use_locking: bool = false");
    for (const char* attr : spec.attrs) std::move(builder).Attr(attr);
    if (is_resource) std::move(builder).Stateful();
    OpRegistrar registrar(std::move(builder).Shape(is_resource ? NoOutputs : SameAsInput0).Cpu(kernels).NoGradient());
    (void)registrar;
  }
}

}  // namespace internal
}  // namespace tandem
