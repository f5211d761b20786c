#include "kernel/kernel.h"

#include <utility>

namespace tandem {

Tensor KernelContext::TakeInput(int i) {
  Tensor& tensor = slots_[node_->input_slots[i]].tensor;
  if (node_->is_last_reader[i]) return std::move(tensor);
  return tensor;
}

StatusOr<Tensor*> KernelContext::Allocate(int output, const Shape& shape) {
  Tensor& slot = slots_[node_->first_output_slot + output].tensor;
  ASSIGN_OR_RETURN(slot, Tensor::Allocate(output_type(output), shape));
  return &slot;
}

StatusOr<Tensor*> KernelContext::ForwardOrAllocate(absl::Span<const int> inputs, int output, const Shape& shape) {
  const DataType type = output_type(output);
  for (int i : inputs) {
    if (!node_->is_last_reader[i]) continue;
    Tensor& from = slots_[node_->input_slots[i]].tensor;
    if (from.dtype() != type || !from.is_unique() || from.num_elements() != shape.num_elements()) continue;
    // The input stays readable under its own slot: both handles see one buffer while the kernel runs.
    Tensor& slot = slots_[node_->first_output_slot + output].tensor;
    slot = from;
    slot.set_shape(shape);
    return &slot;
  }
  return Allocate(output, shape);
}

}  // namespace tandem
