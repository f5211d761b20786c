// Variables as ops change them: found through a reference or a handle, locked as their kind asks.
#pragma once

#include <memory>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "kernel/kernel.h"
#include "kernel/resource_access.h"
#include "kernel/variable.h"

namespace tandem {

// FailedPrecondition "Attempting to use uninitialized value <name>": of a ref variable, or of whatever cannot start without it.
Status UninitializedValue(absl::string_view name);
// What a resource variable without a value gives its readers; `code` is FailedPrecondition or NotFound.
Status UninitializedVariable(const ResourceHandle& handle, absl::StatusCode code = absl::StatusCode::kNotFound);

// The value of the resource variable in input i: its buffer never changes while the tensor lives.
StatusOr<Tensor> ReadVariable(const KernelContext& ctx, int i, DataType dtype, absl::StatusCode if_uninitialized);

// Makes `value`, input `i` of the node that runs, fit to be a ref variable's own: its buffer if nobody else sees it, else a copy.
Tensor TakeOrCopyInput(KernelContext& ctx, int i);

// The variables in some inputs of a node, held for one update in place. Resource variables are locked, and given buffers that no
// reader shares. Ref variables are locked if asked for; else other updates may run at the same time and overwrite each other's
// numbers (Hogwild), but the buffers stay valid. Several variables are locked in one order everywhere.
class VariableUpdate {
 public:
  VariableUpdate() = default;
  ~VariableUpdate();
  VariableUpdate(const VariableUpdate&) = delete;

  // `inputs`: which inputs are variables; all refs or all handles. Call once. FailedPrecondition (for a resource variable:
  // `if_uninitialized`) if one has no value; InvalidArgument if one is not of `dtype`.
  Status Open(KernelContext& ctx, absl::Span<const int> inputs, DataType dtype, bool use_locking,
              absl::StatusCode if_uninitialized = absl::StatusCode::kFailedPrecondition);

  // The value of the i-th of `inputs`, to be changed in place.
  Tensor& value(int i) { return values_[i]; }
  // Of a ref variable, as the op's output.
  const std::shared_ptr<VariableStorage>& variable(int i) const { return variables_[i]; }

 private:
  Status OpenResources(KernelContext& ctx, absl::Span<const int> inputs, absl::StatusCode if_uninitialized);
  void LockAll();

  absl::InlinedVector<std::shared_ptr<VariableStorage>, 4> variables_;
  absl::InlinedVector<Tensor, 4> values_;
  absl::InlinedVector<VariableStorage*, 4> locked_;
};

}  // namespace tandem
