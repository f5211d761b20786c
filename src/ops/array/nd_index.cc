#include "ops/array/nd_index.h"

#include "ops/array/arguments.h"
#include "ops/array/strided_copy.h"

namespace tandem {

StatusOr<NdIndex> ReadNdIndex(const Tensor& indices, const Shape& indexed) {
  const Shape& shape = indices.shape();
  if (shape.rank() < 1) return InvalidArgument("indices must be at least a vector");
  int depth = static_cast<int>(std::min<int64_t>(shape.dim(shape.rank() - 1), kMaxRank + 1));
  if (depth > indexed.rank()) {
    return InvalidArgument("index innermost dimension length must be <= params rank; saw: ", shape.dim(shape.rank() - 1), " vs. ", indexed.rank());
  }
  NdIndex index;
  index.outer = Shape(shape.dims().subspan(0, shape.rank() - 1));
  index.slice = Shape(indexed.dims().subspan(depth));
  index.slice_size = indexed.num_elements() == 0 ? 0 : index.slice.num_elements();
  index.depth = depth;
  // Without coordinates there may be any number of indices, and no memory behind them.
  if (depth == 0) return index;
  ASSIGN_OR_RETURN(Integers values, ReadIntegers(indices));
  Strides strides = RowMajorStrides(indexed);
  int64_t count = index.outer.num_elements();
  index.offsets.resize(count);
  for (int64_t i = 0; i < count; ++i) {
    int64_t offset = 0;
    for (int k = 0; k < depth && offset >= 0; ++k) {
      int64_t value = values[i * depth + k];
      offset = value >= 0 && value < indexed.dim(k) ? offset + value * strides[k] : -1;
    }
    if (offset < 0 && index.first_bad < 0) index.first_bad = i;
    index.offsets[i] = offset;
  }
  return index;
}

Status CheckNdIndex(const NdIndex& index, const Tensor& indices, const Shape& indexed, absl::string_view what) {
  if (index.first_bad < 0) return OkStatus();
  ASSIGN_OR_RETURN(Integers values, ReadIntegers(indices));
  int64_t depth = indices.shape().dim(indices.shape().rank() - 1);
  std::string text;
  for (int64_t k = 0; k < depth; ++k) absl::StrAppend(&text, k > 0 ? ", " : "", values[index.first_bad * depth + k]);
  return InvalidArgument("indices[", IndexText(index.first_bad, index.outer), "] = [", text, "] does not index into ", what, " ", indexed.ToString());
}

std::string IndexText(int64_t flat, const Shape& shape) {
  Strides strides = RowMajorStrides(shape);
  std::string text;
  for (int i = 0; i < shape.rank(); ++i) absl::StrAppend(&text, i > 0 ? "," : "", flat / strides[i] % shape.dim(i));
  return text;
}

}  // namespace tandem
