// MirrorPad and its gradient: mirror images around a tensor.
#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/paddings.h"
#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

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
    if (shape.num_elements() == 0) return OkStatus();
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
    if (unpadded.num_elements() == 0) return ctx.Allocate(0, unpadded).status();
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
