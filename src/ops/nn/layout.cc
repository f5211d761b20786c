#include "ops/nn/layout.h"

#include <complex>
#include <type_traits>

namespace tandem {
namespace {

// [outer, rows, columns] to [outer, columns, rows].
template <typename E>
void SwapLastTwo(const void* from, int64_t outer, int64_t rows, int64_t columns, void* to) {
  const E* x = static_cast<const E*>(from);
  E* y = static_cast<E*>(to);
  for (int64_t o = 0; o < outer; ++o, x += rows * columns, y += rows * columns) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) y[c * rows + r] = x[r * columns + c];
    }
  }
}

void SwapLastTwo(const Tensor& from, int64_t outer, int64_t rows, int64_t columns, Tensor* to) {
  switch (DataTypeSize(from.dtype())) {
    case 1:
      return SwapLastTwo<uint8_t>(from.raw_data(), outer, rows, columns, to->mutable_raw_data());
    case 2:
      return SwapLastTwo<uint16_t>(from.raw_data(), outer, rows, columns, to->mutable_raw_data());
    case 4:
      return SwapLastTwo<uint32_t>(from.raw_data(), outer, rows, columns, to->mutable_raw_data());
    default:
      return SwapLastTwo<uint64_t>(from.raw_data(), outer, rows, columns, to->mutable_raw_data());
  }
}

bool IsLowPrecision(DataType dtype) { return dtype == kHalf || dtype == kBfloat16; }

template <typename T>
void Widen(const Tensor& from, Tensor* to) {
  const T* x = from.data<T>();
  float* y = to->mutable_data<float>();
  for (int64_t i = 0; i < from.num_elements(); ++i) y[i] = static_cast<float>(x[i]);
}
template <typename T>
void Narrow(const Tensor& from, Tensor* to) {
  const float* x = from.data<float>();
  T* y = to->mutable_data<T>();
  for (int64_t i = 0; i < from.num_elements(); ++i) y[i] = static_cast<T>(x[i]);
}

int64_t SpatialSize(const Shape& channels_first) {
  int64_t size = 1;
  for (int i = 2; i < channels_first.rank(); ++i) size *= channels_first.dim(i);
  return size;
}

}  // namespace

Shape ToChannelsLast(const Shape& shape) {
  Shape moved = shape;
  moved.RemoveDim(1);
  moved.AddDim(shape.dim(1));
  return moved;
}

Shape ToChannelsFirst(const Shape& shape) {
  Shape moved = shape;
  moved.RemoveDim(shape.rank() - 1);
  moved.InsertDim(1, shape.dim(shape.rank() - 1));
  return moved;
}

StatusOr<Tensor> PrepareInput(const Tensor& x, bool is_channels_first) {
  Tensor moved = x;
  if (is_channels_first) {
    ASSIGN_OR_RETURN(moved, Tensor::Allocate(x.dtype(), ToChannelsLast(x.shape())));
    if (x.num_elements() > 0) SwapLastTwo(x, x.shape().dim(0), x.shape().dim(1), SpatialSize(x.shape()), &moved);
  }
  if (!IsLowPrecision(x.dtype())) return moved;
  ASSIGN_OR_RETURN(Tensor wide, Tensor::Allocate(kFloat, moved.shape()));
  x.dtype() == kHalf ? Widen<Half>(moved, &wide) : Widen<BFloat16>(moved, &wide);
  return wide;
}

StatusOr<Tensor> WorkspaceFor(const Tensor& output, bool is_channels_first) {
  if (!is_channels_first && !IsLowPrecision(output.dtype())) return output;
  return Tensor::Allocate(IsLowPrecision(output.dtype()) ? kFloat : output.dtype(), is_channels_first ? ToChannelsLast(output.shape()) : output.shape());
}

void FinishOutput(const Tensor& workspace, bool is_channels_first, Tensor* output) {
  if (workspace.SharesBufferWith(*output) || output->num_elements() == 0) return;
  Tensor moved = workspace;
  if (is_channels_first) {
    moved = IsLowPrecision(output->dtype()) ? Tensor(kFloat, output->shape()) : *output;
    SwapLastTwo(workspace, output->shape().dim(0), SpatialSize(output->shape()), output->shape().dim(1), &moved);
  }
  if (output->dtype() == kHalf) Narrow<Half>(moved, output);
  if (output->dtype() == kBfloat16) Narrow<BFloat16>(moved, output);
}

}  // namespace tandem
