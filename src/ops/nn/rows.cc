#include "ops/nn/rows.h"

#include <Eigen/Core>

namespace tandem {
namespace {

template <typename C>
RowExponentials<C> Compute(const C* x, int64_t count, C* exponentials) {
  using Array = Eigen::Array<C, Eigen::Dynamic, 1>;
  Eigen::Map<const Array> in(x, count);
  Eigen::Map<Array> out(exponentials, count);
  const C largest = in.template maxCoeff<Eigen::PropagateNaN>();
  out = (in - largest).exp();
  return {largest, out.sum()};
}

}  // namespace

StatusOr<Rows> AsRows(const Shape& shape, absl::string_view what) {
  if (shape.rank() < 1) return InvalidArgument(what, " must have >= 1 dimension, got ", shape.ToString());
  Rows rows{1, shape.dim(shape.rank() - 1)};
  for (int i = 0; i + 1 < shape.rank(); ++i) rows.rows *= shape.dim(i);
  return rows;
}

RowExponentials<float> Exponentiate(const float* x, int64_t count, float* exponentials) { return Compute(x, count, exponentials); }
RowExponentials<double> Exponentiate(const double* x, int64_t count, double* exponentials) { return Compute(x, count, exponentials); }

}  // namespace tandem
