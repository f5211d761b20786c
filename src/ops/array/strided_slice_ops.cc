// StridedSlice, its gradient, and assignment to a slice of a variable.
#include <vector>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "kernel/variable_access.h"
#include "ops/array/arguments.h"
#include "ops/array/strided_slice.h"

namespace tandem {
namespace {

struct StridedSlice {
  explicit StridedSlice(const Attrs& attrs) : masks(attrs) {}

  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    ASSIGN_OR_RETURN(SlicePlan plan, PlanSlice(input.shape(), ctx.input(1), ctx.input(2), ctx.input(3), masks));
    if (IsRows(plan, input.shape())) {
      Tensor rows = input.Rows(plan.begin[0], plan.begin[0] + plan.sizes[0]);
      rows.set_shape(plan.result);
      ctx.set_output(0, std::move(rows));
      return OkStatus();
    }
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, plan.result));
    StridedCopy(plan.sizes, input, plan.Offset(input.shape()), plan.ElementStrides(input.shape()), output, 0, RowMajorStrides(Shape(plan.sizes)));
    return OkStatus();
  }

  // Whole neighbouring rows of dimension 0 need no copy.
  static bool IsRows(const SlicePlan& plan, const Shape& sliced) {
    if (sliced.is_scalar() || plan.sizes[0] == 0 || (plan.steps[0] != 1 && plan.sizes[0] > 1)) return false;
    for (int i = 1; i < sliced.rank(); ++i) {
      if (plan.sizes[i] != sliced.dim(i) || plan.steps[i] != 1) return false;
    }
    return true;
  }

  SliceMasks masks;
};

// `first` is the first of begin, end, strides among the inputs.
StatusOr<PartialShape> ResultShape(ShapeContext& ctx, const PartialShape& sliced, int first) {
  if (!sliced.has_rank()) return PartialShape();
  PartialShape length;
  for (int i = first; i < first + 3; ++i) {
    ASSIGN_OR_RETURN(length, PartialShape::Merge(length, ctx.input(i)));
  }
  if (length.rank() != 1 || length.dim(0) < 0) return PartialShape();
  if (length.dim(0) > 32) return InvalidArgument("slices of more than 32 entries are not supported, got ", length.dim(0));
  Integers values[3];
  const Integers* known[3];
  for (int i = 0; i < 3; ++i) {
    bool is_known = ConstantVector(ctx, first + i, &values[i]) && static_cast<int64_t>(values[i].size()) == length.dim(0);
    known[i] = is_known ? &values[i] : nullptr;
  }
  return SliceResultShape(sliced, static_cast<int>(length.dim(0)), known[0], known[1], known[2], SliceMasks(ctx.attrs()));
}

Status StridedSliceShape(ShapeContext& ctx) {
  ASSIGN_OR_RETURN(PartialShape result, ResultShape(ctx, ctx.input(0), 1));
  ctx.set_output(0, result);
  return OkStatus();
}

std::vector<NamedAttr> MaskAttrs(GradientScope& g) {
  std::vector<NamedAttr> attrs;
  for (const char* name : {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}) attrs.push_back({name, g.attrs().GetInt(name)});
  return attrs;
}

Status StridedSliceGradient(GradientScope& g) {
  Output shape = g.Op("Shape", {g.input(0)}, {{"out_type", g.input(1).dtype()}});
  return g.Return({g.Op("StridedSliceGrad", {shape, g.input(1), g.input(2), g.input(3), g.grad(0)}, MaskAttrs(g)), Output(), Output(), Output()});
}

struct StridedSliceGrad {
  explicit StridedSliceGrad(const Attrs& attrs) : masks(attrs) {}

  Status Run(KernelContext& ctx) const {
    if (ctx.input(0).shape().rank() != 1) return InvalidArgument("shape must be 1-D, got shape.shape = ", ctx.input(0).shape().ToString());
    ASSIGN_OR_RETURN(Integers sizes, ReadIntegers(ctx.input(0)));
    ASSIGN_OR_RETURN(Shape shape, Shape::Checked(sizes));
    ASSIGN_OR_RETURN(SlicePlan plan, PlanSlice(shape, ctx.input(1), ctx.input(2), ctx.input(3), masks));
    const Tensor& dy = ctx.input(4);
    if (dy.shape() != plan.result) return InvalidArgument("shape of dy was ", dy.shape().ToString(), " instead of ", plan.result.ToString());
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    SetToZero(output);
    StridedCopy(plan.sizes, dy, 0, RowMajorStrides(Shape(plan.sizes)), output, plan.Offset(shape), plan.ElementStrides(shape));
    return OkStatus();
  }

  SliceMasks masks;
};

Status StridedSliceGradGradient(GradientScope& g) {
  return g.Return({Output(), Output(), Output(), Output(), g.Op("StridedSlice", {g.grad(0), g.input(1), g.input(2), g.input(3)}, MaskAttrs(g))});
}

// `value` repeated so that it has `shape`; leading dimensions of size 1 may be too many.
StatusOr<Tensor> BroadcastTo(const Tensor& value, const Shape& shape) {
  if (value.shape() == shape || shape.num_elements() == 0) return value;
  int surplus = value.shape().rank() - shape.rank();
  Strides strides = RowMajorStrides(value.shape()), from(shape.rank(), 0);
  bool fits = true;
  for (int i = 0; i < value.shape().rank(); ++i) {
    int64_t size = value.shape().dim(i);
    if (i < surplus) {
      fits = fits && size == 1;
    } else {
      fits = fits && (size == 1 || size == shape.dim(i - surplus));
      from[i - surplus] = size == 1 ? 0 : strides[i];
    }
  }
  if (!fits) return InvalidArgument("Cannot broadcast input shape ", value.shape().ToString(), " into final shape ", shape.ToString());
  ASSIGN_OR_RETURN(Tensor wide, Tensor::Allocate(value.dtype(), shape));
  StridedCopy(shape.dims(), value, 0, from, &wide, 0, RowMajorStrides(shape));
  return wide;
}

// Writes into a slice of the variable in input 0, through a reference or a handle.
struct StridedSliceAssign {
  explicit StridedSliceAssign(const Attrs& attrs) : masks(attrs) {}

  Status Run(KernelContext& ctx) const {
    const Tensor& value = ctx.input(4);
    VariableUpdate update;
    RETURN_IF_ERROR(update.Open(ctx, {0}, value.dtype(), /*use_locking=*/true));
    Tensor& target = update.value(0);
    ASSIGN_OR_RETURN(SlicePlan plan, PlanSlice(target.shape(), ctx.input(1), ctx.input(2), ctx.input(3), masks));
    ASSIGN_OR_RETURN(Tensor wide, BroadcastTo(value, plan.result));
    StridedCopy(plan.sizes, wide, 0, RowMajorStrides(Shape(plan.sizes)), &target, plan.Offset(target.shape()), plan.ElementStrides(target.shape()));
    if (ctx.num_outputs() > 0) ctx.set_ref_output(0, update.variable(0));
    return OkStatus();
  }

  SliceMasks masks;
};

DEFINE_OP("StridedSlice")
    .Input("input: T")
    .Input("begin: Index")
    .Input("end: Index")
    .Input("strides: Index")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Index: {int16, int32, int64}")
    .Attr("begin_mask: int = 0")
    .Attr("end_mask: int = 0")
    .Attr("ellipsis_mask: int = 0")
    .Attr("new_axis_mask: int = 0")
    .Attr("shrink_axis_mask: int = 0")
    .Shape(StridedSliceShape)
    .Cpu(AnyType<StridedSlice>())
    .Gradient(StridedSliceGradient);

DEFINE_OP("StridedSliceGrad")
    .Input("shape: Index")
    .Input("begin: Index")
    .Input("end: Index")
    .Input("strides: Index")
    .Input("dy: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Index: IDX")
    .Attr("begin_mask: int = 0")
    .Attr("end_mask: int = 0")
    .Attr("ellipsis_mask: int = 0")
    .Attr("new_axis_mask: int = 0")
    .Attr("shrink_axis_mask: int = 0")
    .Shape(ShapeFromInput0)
    .Cpu(AnyType<StridedSliceGrad>())
    .Gradient(StridedSliceGradGradient);

DEFINE_OP("StridedSliceAssign")
    .Input("ref: Ref(T)")
    .Input("begin: Index")
    .Input("end: Index")
    .Input("strides: Index")
    .Input("value: T")
    .Output("output_ref: Ref(T)")
    .Attr("T: type")
    .Attr("Index: IDX")
    .Attr("begin_mask: int = 0")
    .Attr("end_mask: int = 0")
    .Attr("ellipsis_mask: int = 0")
    .Attr("new_axis_mask: int = 0")
    .Attr("shrink_axis_mask: int = 0")
    .Shape(SameAsInput0)
    .Cpu(AnyType<StridedSliceAssign>());

DEFINE_OP("ResourceStridedSliceAssign")
    .Input("ref: resource")
    .Input("begin: Index")
    .Input("end: Index")
    .Input("strides: Index")
    .Input("value: T")
    .Attr("T: type")
    .Attr("Index: IDX")
    .Attr("begin_mask: int = 0")
    .Attr("end_mask: int = 0")
    .Attr("ellipsis_mask: int = 0")
    .Attr("new_axis_mask: int = 0")
    .Attr("shrink_axis_mask: int = 0")
    .Stateful()
    .Shape(NoOutputs)
    .Cpu(AnyType<StridedSliceAssign>());

}  // namespace
}  // namespace tandem
