// "ij,jk->ik": the equation of an Einsum, and what its labels mean for tensors of given ranks.
#pragma once

#include <string>
#include <vector>

#include "core/status.h"

namespace tandem {

// Labels are letters; kEllipsis stands for any number of dimensions that broadcast against each other.
struct EinsumEquation {
  static constexpr char kEllipsis = '.';
  std::vector<std::string> inputs;
  std::string output;
};

// InvalidArgument unless it has an arrow, `input_count` inputs, letters only, and output labels that occur in an input.
StatusOr<EinsumEquation> ParseEinsum(const std::string& equation, int input_count);

// The labels of each of `rank` dimensions. Dimensions of the ellipsis get numbers above 256, 257 being the last of them.
// InvalidArgument if the rank does not fit.
StatusOr<std::vector<int>> LabelDims(const std::string& labels, int rank);

}  // namespace tandem
