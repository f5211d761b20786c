// Numbers as tensors of whatever type the graph needs.
#pragma once

#include "tandem/tensor.h"

namespace tandem {

// All elements `value`. Throws InvalidArgument if the type holds no numbers, or not this one.
Tensor NumberTensor(double value, DataType dtype, const Shape& shape = {});

}  // namespace tandem
