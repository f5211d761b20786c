#include "kernel/variable_access.h"

#include <algorithm>
#include <functional>

namespace tandem {

Status UninitializedValue(absl::string_view name) { return FailedPrecondition("Attempting to use uninitialized value ", name); }

Status UninitializedVariable(const ResourceHandle& handle, absl::StatusCode code) {
  return Status(code, absl::StrCat("Could not find variable ", handle.name,
                                   ". This could mean that the variable has been deleted. In TF1, it can also mean the variable is uninitialized. "
                                   "Debug info: container=",
                                   handle.container, ", status error message=Resource ", handle.container, "/", handle.name, " does not exist."));
}

StatusOr<Tensor> ReadVariable(const KernelContext& ctx, int i, DataType dtype, absl::StatusCode if_uninitialized) {
  ASSIGN_OR_RETURN(const ResourceHandle* handle, HandleInput(ctx, i));
  StatusOr<std::shared_ptr<ResourceVariable>> variable = FindResource<ResourceVariable>(ctx, *handle);
  if (absl::IsNotFound(variable.status())) return UninitializedVariable(*handle, if_uninitialized);
  RETURN_IF_ERROR(variable.status());
  Tensor value = (*variable)->Snapshot();
  if (!value.has_value()) return UninitializedVariable(*handle, if_uninitialized);
  if (dtype != kInvalid && value.dtype() != dtype) {
    return InvalidArgument("Trying to read variable with wrong dtype. Expected ", DataTypeName(dtype), " got ", DataTypeName(value.dtype()));
  }
  return value;
}

Tensor TakeOrCopyInput(KernelContext& ctx, int i) {
  Tensor taken = ctx.TakeInput(i);
  // A small part of a big buffer would keep all of it alive.
  const bool is_whole = taken.buffer() != nullptr && taken.buffer()->size() / 2 <= taken.byte_size() + 64;
  return taken.is_unique() && is_whole ? taken : taken.Clone();
}

VariableUpdate::~VariableUpdate() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  values_.clear();  // before the locks go: the next update would take our handles for those of readers, and copy
  for (VariableStorage* variable : locked_) variable->mu.Unlock();
}

void VariableUpdate::LockAll() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  for (const auto& variable : variables_) locked_.push_back(variable.get());
  if (locked_.size() > 1) {
    std::sort(locked_.begin(), locked_.end(), std::less<VariableStorage*>());
    locked_.erase(std::unique(locked_.begin(), locked_.end()), locked_.end());
  }
  for (VariableStorage* variable : locked_) variable->mu.Lock();
}

Status VariableUpdate::OpenResources(KernelContext& ctx, absl::Span<const int> inputs, absl::StatusCode if_uninitialized) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  for (int i : inputs) {
    ASSIGN_OR_RETURN(const ResourceHandle* handle, HandleInput(ctx, i));
    StatusOr<std::shared_ptr<ResourceVariable>> variable = FindResource<ResourceVariable>(ctx, *handle);
    if (absl::IsNotFound(variable.status())) return UninitializedVariable(*handle, if_uninitialized);
    RETURN_IF_ERROR(variable.status());
    variables_.push_back(*std::move(variable));
  }
  LockAll();
  for (size_t k = 0; k < variables_.size(); ++k) {
    auto& variable = static_cast<ResourceVariable&>(*variables_[k]);
    if (!variable.value.has_value()) return UninitializedVariable(*ctx.input(inputs[k]).data<ResourceHandle>(), if_uninitialized);
    variable.MakeUnique();
  }
  return OkStatus();
}

Status VariableUpdate::Open(KernelContext& ctx, absl::Span<const int> inputs, DataType dtype, bool use_locking,
                            absl::StatusCode if_uninitialized) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  const bool are_refs = ctx.is_ref_input(inputs[0]);
  if (are_refs) {
    for (int i : inputs) variables_.push_back(ctx.ref_input(i));
    if (use_locking) LockAll();
  } else {
    RETURN_IF_ERROR(OpenResources(ctx, inputs, if_uninitialized));
  }
  for (const auto& variable : variables_) {
    values_.push_back(locked_.empty() ? variable->Snapshot() : variable->value);
    const Tensor& value = values_.back();
    if (!value.has_value()) return UninitializedValue(variable->name());
    if (value.dtype() != dtype) {
      return InvalidArgument("variable ", variable->name(), " is of type ", DataTypeName(value.dtype()), ", its update of type ", DataTypeName(dtype));
    }
  }
  return OkStatus();
}

}  // namespace tandem
