// Checks that the ops of this folder share.
#pragma once

#include <string>

#include "graph/shape_inference.h"

namespace tandem {

// InvalidArgument, saying "Input <what> should have a single element, got N instead.", unless it is one string.
StatusOr<std::string> ReadPrefix(const Tensor& tensor, absl::string_view what);

// InvalidArgument unless names and slices are vectors of as many strings.
Status CheckNamesAndSlices(const Tensor& names, const Tensor& slices);

// InvalidArgument, naming the input, if the shape of input i can never have this rank.
Status RequireRank(const ShapeContext& ctx, int i, int rank);

}  // namespace tandem
