#include "ops/io/arguments.h"

namespace tandem {

StatusOr<std::string> ReadPrefix(const Tensor& tensor, absl::string_view what) {
  if (tensor.num_elements() != 1) return InvalidArgument("Input ", what, " should have a single element, got ", tensor.num_elements(), " instead.");
  return tensor.data<std::string>()[0];
}

Status CheckNamesAndSlices(const Tensor& names, const Tensor& slices) {
  if (names.shape().rank() != 1 || slices.shape().rank() != 1) {
    return InvalidArgument("Input tensor_names and shape_and_slices should be an 1-D tensors, got ", names.shape().ToString(), " and ",
                           slices.shape().ToString(), " instead.");
  }
  if (names.num_elements() != slices.num_elements()) {
    return InvalidArgument("tensor_names and shape_and_slices have different number of elements: ", names.num_elements(), " vs. ", slices.num_elements());
  }
  return OkStatus();
}

Status RequireRank(const ShapeContext& ctx, int i, int rank) {
  const PartialShape& shape = ctx.input(i);
  if (!shape.has_rank() || shape.rank() == rank) return OkStatus();
  return InvalidArgument("Shape must be rank ", rank, " but is rank ", shape.rank(), " for input ", i);
}

}  // namespace tandem
