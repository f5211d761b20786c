// Pad, PadV2, MirrorPad and its gradient: more elements around a tensor.
#include <vector>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"
#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

// How many elements to add in front of and behind each dimension.
struct Paddings {
  std::vector<int64_t> before, after;
};

StatusOr<Paddings> ReadPaddings(const Tensor& input, int rank) {
  if (input.shape().rank() != 2 || input.shape().dim(1) != 2) {
    return InvalidArgument("paddings must be a matrix with 2 columns: ", input.shape().ToString());
  }
  if (input.shape().dim(0) != rank) {
    return InvalidArgument("The first dimension of paddings must be the rank of inputs, ", rank, ", got ", input.shape().ToString());
  }
  ASSIGN_OR_RETURN(std::vector<int64_t> values, ReadIntegers(input));
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

// The element at which the unpadded tensor begins inside the padded one.
int64_t CenterOffset(const Strides& padded_strides, const Paddings& paddings) {
  int64_t offset = 0;
  for (size_t i = 0; i < padded_strides.size(); ++i) offset += padded_strides[i] * paddings.before[i];
  return offset;
}

struct Pad {
  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    ASSIGN_OR_RETURN(Paddings paddings, ReadPaddings(ctx.input(1), input.shape().rank()));
    bool has_value = ctx.num_inputs() > 2;
    if (has_value && !ctx.input(2).shape().is_scalar()) return InvalidArgument("constant_values must be a scalar. Found: ", ctx.input(2).shape().ToString());
    ASSIGN_OR_RETURN(Shape shape, PaddedShape(input.shape(), paddings));
    if (shape == input.shape()) {
      ctx.set_output(0, ctx.TakeInput(0));
      return OkStatus();
    }
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    if (has_value) {
      int64_t count = shape.num_elements();
      StridedCopy({count}, ctx.input(2), 0, {0}, output, 0, {1});
    } else {
      SetToZero(output);
    }
    Strides to = RowMajorStrides(shape);
    StridedCopy(input.shape().dims(), input, 0, RowMajorStrides(input.shape()), output, CenterOffset(to, paddings), to);
    return OkStatus();
  }
};

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

Status PadGradient(GradientScope& g) {
  DataType type = g.input(1).dtype();
  auto vector = [&](int32_t a, int32_t b) { return g.Const(Tensor(std::vector<int32_t>{a, b})); };
  // paddings[:, 0]
  Output begin = g.Op("StridedSlice", {g.input(1), vector(0, 0), vector(0, 1), vector(1, 1)}, {{"begin_mask", 1}, {"end_mask", 1}, {"shrink_axis_mask", 2}});
  Output size = g.Op("Shape", {g.input(0)}, {{"out_type", type}});
  std::vector<Output> gradients(g.num_inputs());
  gradients[0] = g.Op("Slice", {g.grad(0), begin, size});
  return g.Return(gradients);
}

// SYMMETRIC repeats the outermost element in the mirror image (skip 0), REFLECT does not (skip 1).
struct Mirror {
  explicit Mirror(const Attrs& attrs) : skip(attrs.GetString("mode") == "REFLECT" ? 1 : 0) {}

  Status Check(const Shape& unpadded, const Paddings& paddings) const {
    for (int i = 0; i < unpadded.rank(); ++i) {
      int64_t before = paddings.before[i], after = paddings.after[i], size = unpadded.dim(i);
      if (before <= size - skip && after <= size - skip) continue;
      if (skip == 1) return InvalidArgument("paddings must be less than the dimension size: ", before, ", ", after, " not less than ", size);
      return InvalidArgument("paddings must be no greater than the dimension size: ", before, ", ", after, " greater than ", size);
    }
    return OkStatus();
  }

  int64_t skip;
};

// Two boxes of a padded tensor, one outside the other's mirror: walked together, element by element.
struct MirrorBoxes {
  Strides sizes, outside_strides, inside_strides;
  int64_t outside_offset, inside_offset;
};

// The boxes in front of (or behind) the center along `dim`. Dimensions below `dim` are taken whole, those above without padding.
MirrorBoxes BoxesAlong(int dim, bool is_in_front, int64_t skip, const Shape& unpadded, const Shape& padded, const Paddings& paddings) {
  MirrorBoxes boxes;
  Strides strides = RowMajorStrides(padded);
  boxes.outside_strides = boxes.inside_strides = strides;
  boxes.outside_offset = boxes.inside_offset = 0;
  for (int i = 0; i < padded.rank(); ++i) {
    boxes.sizes.push_back(i < dim ? padded.dim(i) : unpadded.dim(i));
    if (i > dim) {
      boxes.outside_offset += strides[i] * paddings.before[i];
      boxes.inside_offset += strides[i] * paddings.before[i];
    }
  }
  int64_t begin = paddings.before[dim], end = begin + unpadded.dim(dim);
  boxes.sizes[dim] = is_in_front ? begin : paddings.after[dim];
  boxes.outside_offset += strides[dim] * (is_in_front ? begin - 1 : end);
  boxes.inside_offset += strides[dim] * (is_in_front ? begin + skip : end - 1 - skip);
  (is_in_front ? boxes.outside_strides : boxes.inside_strides)[dim] *= -1;
  return boxes;
}

struct MirrorPad : Mirror {
  using Mirror::Mirror;

  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    const Shape& unpadded = input.shape();
    ASSIGN_OR_RETURN(Paddings paddings, ReadPaddings(ctx.input(1), unpadded.rank()));
    RETURN_IF_ERROR(Check(unpadded, paddings));
    ASSIGN_OR_RETURN(Shape shape, PaddedShape(unpadded, paddings));
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    Strides to = RowMajorStrides(shape);
    StridedCopy(unpadded.dims(), input, 0, RowMajorStrides(unpadded), output, CenterOffset(to, paddings), to);
    for (int dim = 0; dim < shape.rank(); ++dim) {
      for (bool is_in_front : {true, false}) {
        MirrorBoxes boxes = BoxesAlong(dim, is_in_front, skip, unpadded, shape, paddings);
        StridedCopy(boxes.sizes, *output, boxes.inside_offset, boxes.inside_strides, output, boxes.outside_offset, boxes.outside_strides);
      }
    }
    return OkStatus();
  }
};

// to[i · to_strides] += from[i · from_strides], along dimension `dim` and those after it.
template <typename T>
void AddStrided(const MirrorBoxes& boxes, size_t dim, const T* from, T* to) {
  if (dim == boxes.sizes.size()) {
    *to = static_cast<T>(*to + *from);
    return;
  }
  for (int64_t i = 0; i < boxes.sizes[dim]; ++i) {
    AddStrided(boxes, dim + 1, from + i * boxes.outside_strides[dim], to + i * boxes.inside_strides[dim]);
  }
}

struct MirrorPadGrad : Mirror {
  using Mirror::Mirror;

  template <typename T>
  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    const Shape& padded = input.shape();
    ASSIGN_OR_RETURN(Paddings paddings, ReadPaddings(ctx.input(1), padded.rank()));
    Shape unpadded = padded;
    for (int i = 0; i < padded.rank(); ++i) {
      int64_t total;
      if (__builtin_add_overflow(paddings.before[i], paddings.after[i], &total) || total >= padded.dim(i)) {
        return InvalidArgument("Total paddings must be less than the input dimension size: ", paddings.before[i], " + ", paddings.after[i],
                               " was not less than ", padded.dim(i));
      }
      unpadded.set_dim(i, padded.dim(i) - total);
    }
    RETURN_IF_ERROR(Check(unpadded, paddings));
    // Folds the mirror images back, in the opposite order, on a copy.
    Tensor folded = input.Clone();
    T* elements = folded.mutable_data<T>();
    for (int dim = padded.rank() - 1; dim >= 0; --dim) {
      for (bool is_in_front : {true, false}) {
        MirrorBoxes boxes = BoxesAlong(dim, is_in_front, skip, unpadded, padded, paddings);
        AddStrided(boxes, 0, elements + boxes.outside_offset, elements + boxes.inside_offset);
      }
    }
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, unpadded));
    Strides from = RowMajorStrides(padded);
    StridedCopy(unpadded.dims(), folded, CenterOffset(from, paddings), from, output, 0, RowMajorStrides(unpadded));
    return OkStatus();
  }
};

Status MirrorPadGradShape(ShapeContext& ctx) {
  PartialShape shape = ctx.input(0);
  if (!shape.has_rank()) return OkStatus();
  PartialShape unpadded = PartialShape::UnknownOfRank(shape.rank());
  if (ctx.constant(1) != nullptr) {
    ASSIGN_OR_RETURN(Paddings paddings, ReadPaddings(*ctx.constant(1), shape.rank()));
    for (int i = 0; i < shape.rank(); ++i) {
      int64_t total;
      if (__builtin_add_overflow(paddings.before[i], paddings.after[i], &total)) return InvalidArgument("paddings are too large");
      if (shape.dim(i) != kUnknownSize && shape.dim(i) >= total) unpadded.set_dim(i, shape.dim(i) - total);
    }
  }
  ctx.set_output(0, unpadded);
  return OkStatus();
}

Status MirrorPadGradient(GradientScope& g) {
  return g.Return({g.Op("MirrorPadGrad", {g.grad(0), g.input(1)}, {{"mode", g.attrs().GetString("mode")}}), Output()});
}

Status MirrorPadGradGradient(GradientScope& g) {
  return g.Return({g.Op("MirrorPad", {g.grad(0), g.input(1)}, {{"mode", g.attrs().GetString("mode")}}), Output()});
}

DEFINE_OP("Pad")
    .Input("input: T")
    .Input("paddings: Tpaddings")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tpaddings: IDX = int32")
    .Shape(PadShape)
    .Cpu(AnyType<Pad>())
    .Gradient(PadGradient);

DEFINE_OP("PadV2")
    .Input("input: T")
    .Input("paddings: Tpaddings")
    .Input("constant_values: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tpaddings: IDX = int32")
    .Shape(PadShape)
    .Cpu(AnyType<Pad>())
    .Gradient(PadGradient);

DEFINE_OP("MirrorPad")
    .Input("input: T")
    .Input("paddings: Tpaddings")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tpaddings: IDX = int32")
    .Attr("mode: {'REFLECT', 'SYMMETRIC'}")
    .Shape(PadShape)
    .Cpu(AnyType<MirrorPad>())
    .Gradient(MirrorPadGradient);

DEFINE_OP("MirrorPadGrad")
    .Input("input: T")
    .Input("paddings: Tpaddings")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tpaddings: IDX = int32")
    .Attr("mode: {'REFLECT', 'SYMMETRIC'}")
    .Shape(MirrorPadGradShape)
    .Cpu(ForArithmetic<MirrorPadGrad>())
    .Gradient(MirrorPadGradGradient);

}  // namespace
}  // namespace tandem
