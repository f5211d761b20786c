// Kernels of this folder work on channels-last tensors of types that processors compute with. These functions bring other tensors
// into that form and back.
#pragma once

#include <initializer_list>

#include "graph/op.h"

namespace tandem {

// `x` with channels in the last dimension instead of dimension 1 (if `is_channels_first`), half and bfloat16 as float. Shares the
// buffer if nothing has to be done.
StatusOr<Tensor> PrepareInput(const Tensor& x, bool is_channels_first);
// Where to compute `output`: itself, or a tensor of the form of PrepareInput, which FinishOutput then stores.
StatusOr<Tensor> WorkspaceFor(const Tensor& output, bool is_channels_first);
void FinishOutput(const Tensor& workspace, bool is_channels_first, Tensor* output);

Shape ToChannelsLast(const Shape& shape);
Shape ToChannelsFirst(const Shape& shape);

// The same kernel, which looks at the types itself, for some types of an attr.
template <typename K>
KernelSet SameKernelFor(std::initializer_list<DataType> types, std::string attr = "T") {
  KernelSet set{std::move(attr), {}};
  for (DataType type : types) set.by_type.emplace_back(type, AnyType<K>().by_type[0].second);
  return set;
}

}  // namespace tandem
