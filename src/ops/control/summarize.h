// Tensors in words, exactly as TensorFlow's Assert, Print and tf.strings.format write them.
#pragma once

#include <cstdint>
#include <string>

#include "tandem/tensor.h"

namespace tandem {

// "1 2 3..." or "[1 2][3...]...": up to `max_elements` from the front, all if negative. Without the outermost brackets.
std::string SummarizeFront(const Tensor& tensor, int64_t max_elements);

// "[[0 1 2 ... 7 8 9]\n [...]]": up to `max_at_ends` from either end of each dimension, all if negative. Strings in quotes.
std::string SummarizeEnds(const Tensor& tensor, int64_t max_at_ends);

}  // namespace tandem
