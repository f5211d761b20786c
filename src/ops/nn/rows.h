// Tensors seen as rows over their last dimension, and the arithmetic of softmax on one row.
#pragma once

#include <cstdint>

#include "core/status.h"
#include "tandem/tensor.h"

namespace tandem {

struct Rows {
  int64_t rows, columns;
};

// `what` names the tensor in the error for a scalar.
StatusOr<Rows> AsRows(const Shape& shape, absl::string_view what);

// exponentials[i] = exp(x[i] - m) with m the largest of the row, which makes the largest exponential 1; and their sum.
// `exponentials` may be x. count > 0.
template <typename C>  // float, double
struct RowExponentials {
  C largest, sum;
};
RowExponentials<float> Exponentiate(const float* x, int64_t count, float* exponentials);
RowExponentials<double> Exponentiate(const double* x, int64_t count, double* exponentials);

}  // namespace tandem
