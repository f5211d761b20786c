// Rows of a tensor as byte strings, equal where the rows are equal: how Unique and ListDiff compare elements of any type.
#pragma once

#include <string>
#include <vector>

#include "core/status.h"
#include "tandem/tensor.h"

namespace tandem {

// `tensor` seen as [outer, rows, inner]: the key of row r holds all elements (., r, .). -0 equals 0; a NaN equals nothing, not even
// itself. Unimplemented for types that have no equality.
StatusOr<std::vector<std::string>> RowKeys(const Tensor& tensor, int64_t outer, int64_t rows, int64_t inner);

}  // namespace tandem
