// What Pad and MirrorPad share: how many elements to add in front of and behind each dimension.
#pragma once

#include <cstdint>

#include "core/status.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"
#include "ops/array/strided_copy.h"
#include "tandem/tensor.h"

namespace tandem {

struct Paddings {
  Integers before, after;
};

// `input` has a row [before, after] for each of `rank` dimensions. InvalidArgument for another shape or a negative number.
StatusOr<Paddings> ReadPaddings(const Tensor& input, int rank);

// InvalidArgument if it would be too large.
StatusOr<Shape> PaddedShape(const Shape& shape, const Paddings& paddings);

// The element at which the unpadded tensor begins inside the padded one.
int64_t CenterOffset(const Strides& padded_strides, const Paddings& paddings);

// Input 0 padded as input 1 says.
Status PadShape(ShapeContext& ctx);

}  // namespace tandem
