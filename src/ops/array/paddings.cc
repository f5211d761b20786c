#include "ops/array/paddings.h"

#include "ops/array/arguments.h"

namespace tandem {

StatusOr<Paddings> ReadPaddings(const Tensor& input, int rank) {
  if (input.shape().rank() != 2 || input.shape().dim(1) != 2) {
    return InvalidArgument("paddings must be a matrix with 2 columns: ", input.shape().ToString());
  }
  if (input.shape().dim(0) != rank) {
    return InvalidArgument("The first dimension of paddings must be the rank of inputs, ", rank, ", got ", input.shape().ToString());
  }
  ASSIGN_OR_RETURN(Integers values, ReadIntegers(input));
  Paddings paddings;
  for (int i = 0; i < rank; ++i) {
    int64_t before = values[2 * i], after = values[2 * i + 1];
    if (before < 0 || after < 0) return InvalidArgument("Paddings must be non-negative: ", before, " ", after);
    paddings.before.push_back(before);
    paddings.after.push_back(after);
  }
  return paddings;
}

StatusOr<Shape> PaddedShape(const Shape& shape, const Paddings& paddings) {
  Shape padded = shape;
  for (int i = 0; i < shape.rank(); ++i) {
    int64_t size;
    if (__builtin_add_overflow(shape.dim(i), paddings.before[i], &size) || __builtin_add_overflow(size, paddings.after[i], &size)) {
      return InvalidArgument("padding ", paddings.before[i], " and ", paddings.after[i], " is too large");
    }
    padded.set_dim(i, size);
  }
  return Shape::Checked(padded.dims());
}

int64_t CenterOffset(const Strides& padded_strides, const Paddings& paddings) {
  int64_t offset = 0;
  for (size_t i = 0; i < padded_strides.size(); ++i) offset += padded_strides[i] * paddings.before[i];
  return offset;
}

Status PadShape(ShapeContext& ctx) {
  PartialShape shape = ctx.input(0);
  const PartialShape& paddings_shape = ctx.input(1);
  if (!shape.has_rank() && paddings_shape.rank() == 2 && paddings_shape.dim(0) >= 0 && paddings_shape.dim(0) <= kMaxRank) {
    shape = PartialShape::UnknownOfRank(static_cast<int>(paddings_shape.dim(0)));
  }
  if (!shape.has_rank()) return OkStatus();
  PartialShape padded = PartialShape::UnknownOfRank(shape.rank());
  if (ctx.constant(1) != nullptr) {
    ASSIGN_OR_RETURN(Paddings paddings, ReadPaddings(*ctx.constant(1), shape.rank()));
    for (int i = 0; i < shape.rank(); ++i) {
      int64_t size = shape.dim(i);
      if (size == kUnknownSize) continue;
      if (__builtin_add_overflow(size, paddings.before[i], &size) || __builtin_add_overflow(size, paddings.after[i], &size)) {
        return InvalidArgument("padding ", paddings.before[i], " and ", paddings.after[i], " is too large");
      }
      padded.set_dim(i, size);
    }
  }
  ctx.set_output(0, padded);
  return OkStatus();
}

}  // namespace tandem
