#include "ops/queue/stack_elements.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace tandem {
namespace {

// Copies `from` into the corner of the row that starts at element `to_offset` of `to` and has shape `row`.
template <typename CopyRun>
void CopyIntoCorner(const Shape& from, const Shape& row, int64_t to_offset, CopyRun copy_run) {
  const int rank = from.rank();
  if (from.num_elements() == 0) return;
  if (rank == 0 || from == row) return copy_run(0, to_offset, from.num_elements());
  const int64_t run = from.dim(rank - 1);
  std::vector<int64_t> position(rank, 0);  // of a run: all dimensions but the last
  for (int64_t from_offset = 0; from_offset < from.num_elements(); from_offset += run) {
    int64_t at = 0;
    for (int d = 0; d < rank; ++d) at = at * row.dim(d) + position[d];
    copy_run(from_offset, to_offset + at, run);
    for (int d = rank - 2; d >= 0 && ++position[d] == from.dim(d); --d) position[d] = 0;
  }
}

StatusOr<Tensor> StackComponent(absl::Span<const Tuple> elements, size_t component, DataType dtype, const PartialShape& declared) {
  if (!declared.has_rank()) return InvalidArgument("elements of unknown rank cannot be stacked");
  Shape row;
  for (int d = 0; d < declared.rank(); ++d) row.AddDim(std::max<int64_t>(declared.dim(d), 0));
  bool is_padded = false;
  for (const Tuple& element : elements) {
    for (int d = 0; d < row.rank(); ++d) row.set_dim(d, std::max(row.dim(d), element[component].shape().dim(d)));
  }
  for (const Tuple& element : elements) is_padded |= element[component].shape() != row;

  Shape batch;
  batch.AddDim(static_cast<int64_t>(elements.size()));
  for (int64_t size : row.dims()) batch.AddDim(size);
  ASSIGN_OR_RETURN(batch, Shape::Checked(batch.dims()));
  ASSIGN_OR_RETURN(Tensor stacked, Tensor::Allocate(dtype, batch));
  if (!IsPlainData(dtype) && dtype != kString) return Unimplemented("elements of type ", DataTypeName(dtype), " cannot be stacked");
  if (is_padded && dtype != kString) std::memset(stacked.mutable_raw_data(), 0, stacked.byte_size());

  const size_t size = DataTypeSize(dtype);
  const int64_t width = row.num_elements();
  for (size_t i = 0; i < elements.size(); ++i) {
    const Tensor& element = elements[i][component];
    CopyIntoCorner(element.shape(), row, static_cast<int64_t>(i) * width, [&](int64_t from, int64_t to, int64_t count) {
      if (dtype == kString) {
        std::copy_n(element.data<std::string>() + from, count, stacked.mutable_data<std::string>() + to);
      } else {
        std::memcpy(static_cast<char*>(stacked.mutable_raw_data()) + to * size, static_cast<const char*>(element.raw_data()) + from * size, count * size);
      }
    });
  }
  return stacked;
}

}  // namespace

Tuple ElementAt(const Tuple& batch, int64_t row) {
  Tuple element;
  element.reserve(batch.size());
  for (const Tensor& component : batch) {
    Tensor one = component.Rows(row, row + 1);
    Shape shape = one.shape();
    shape.RemoveDim(0);
    one.set_shape(shape);
    element.push_back(std::move(one));
  }
  return element;
}

StatusOr<Tuple> StackElements(absl::Span<const Tuple> elements, absl::Span<const DataType> types, absl::Span<const PartialShape> shapes) {
  Tuple stacked;
  for (size_t i = 0; i < types.size(); ++i) {
    ASSIGN_OR_RETURN(Tensor component, StackComponent(elements, i, types[i], shapes[i]));
    stacked.push_back(std::move(component));
  }
  return stacked;
}

}  // namespace tandem
