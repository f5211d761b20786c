// Gather and GatherV2: rows of a tensor, named by indices.
#include <algorithm>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "graph/gradient.h"
#include "graph/node.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"
#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

// Sizes of the parts of params [batch..., outer..., rows, inner...] and indices [batch..., count].
struct GatherSizes {
  int64_t batch = 1, outer = 1, rows = 1, inner = 1, count = 1;
};

// The first index that is not a row, -1 if all are.
template <typename Index>
int64_t FirstBadIndex(const Index* indices, int64_t count, int64_t rows) {
  for (int64_t i = 0; i < count; ++i) {
    if (indices[i] < 0 || indices[i] >= rows) return i;
  }
  return -1;
}

template <typename E, typename Index>
void GatherElements(const GatherSizes& sizes, const E* params, const Index* indices, E* to) {
  int64_t last = std::max<int64_t>(sizes.rows - 1, 0);
  for (int64_t b = 0; b < sizes.batch; ++b) {
    for (int64_t o = 0; o < sizes.outer; ++o) {
      const E* from = params + (b * sizes.outer + o) * sizes.rows * sizes.inner;
      const Index* row = indices + b * sizes.count;
      for (int64_t i = 0; i < sizes.count; ++i) {
        // Clamped once more: the indices may lie in a variable's buffer that is being written.
        int64_t at = std::clamp<int64_t>(row[i], 0, last);
        if (sizes.inner == 1) {
          *to++ = from[at];
        } else {
          CopyElements(from + at * sizes.inner, sizes.inner, to);
          to += sizes.inner;
        }
      }
    }
  }
}

std::string IndexText(int64_t flat, const Shape& shape) {
  Strides strides = RowMajorStrides(shape);
  std::string text;
  for (int i = 0; i < shape.rank(); ++i) absl::StrAppend(&text, i > 0 ? "," : "", flat / strides[i] % shape.dim(i));
  return text;
}

template <typename Index>
Status GatherBy(KernelContext& ctx, const GatherSizes& sizes, const Tensor& indices, const Shape& shape) {
  const Index* index = indices.data<Index>();
  ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
  if (output->num_elements() == 0) return OkStatus();
  int64_t bad = FirstBadIndex(index, indices.num_elements(), sizes.rows);
  if (bad >= 0) {
    return InvalidArgument("indices[", IndexText(bad, indices.shape()), "] = ", static_cast<int64_t>(index[bad]), " is not in [0, ", sizes.rows, ")");
  }
  return WithElement(output->dtype(), [&]<typename E>() {
    GatherElements(sizes, ElementsOf<E>(ctx.input(0)), index, MutableElementsOf<E>(output));
    return OkStatus();
  });
}

struct Gather {
  explicit Gather(const Attrs& attrs) : has_axis(attrs.op() == "GatherV2"), batch_dims(has_axis ? attrs.GetInt("batch_dims") : 0) {}

  Status Run(KernelContext& ctx) const {
    const Shape& params = ctx.input(0).shape();
    const Tensor& indices = ctx.input(1);
    if (params.rank() < 1) return InvalidArgument("params must be at least 1 dimensional");
    int64_t axis = 0;
    if (has_axis) {
      if (!ctx.input(2).shape().is_scalar()) return InvalidArgument("axis must be scalar");
      ASSIGN_OR_RETURN(axis, ReadScalar(ctx.input(2), "axis"));
    }
    if (axis < -params.rank() || axis >= params.rank()) {
      return InvalidArgument("Expected axis in the range [", -params.rank(), ", ", params.rank(), "), but got ", axis);
    }
    if (axis < 0) axis += params.rank();
    int64_t batch = batch_dims;
    if (batch < -indices.shape().rank() || batch > indices.shape().rank()) {
      return InvalidArgument("Expected batch_dims in the range [", -indices.shape().rank(), ", ", indices.shape().rank(), "], but got ", batch);
    }
    if (batch < 0) batch += indices.shape().rank();
    if (batch > axis) return InvalidArgument("batch_dims (", batch, ") must be less than or equal to axis (", axis, ").");
    GatherSizes sizes;
    Shape shape;
    for (int i = 0; i < params.rank(); ++i) {
      if (i < batch && params.dim(i) != indices.shape().dim(i)) {
        return InvalidArgument("params.shape[", i, "]: ", params.dim(i), " should be equal to indices.shape[", i, "]: ", indices.shape().dim(i));
      }
      (i < batch ? sizes.batch : i < axis ? sizes.outer : i == axis ? sizes.rows : sizes.inner) *= params.dim(i);
      if (i != axis) {
        shape.AddDim(params.dim(i));
        continue;
      }
      for (int k = static_cast<int>(batch); k < indices.shape().rank(); ++k) {
        shape.AddDim(indices.shape().dim(k));
        sizes.count *= indices.shape().dim(k);
      }
    }
    ASSIGN_OR_RETURN(shape, Shape::Checked(shape.dims()));
    if (indices.dtype() == kInt32) return GatherBy<int32_t>(ctx, sizes, indices, shape);
    if (indices.dtype() == kInt64) return GatherBy<int64_t>(ctx, sizes, indices, shape);
    return GatherBy<int16_t>(ctx, sizes, indices, shape);
  }

  bool has_axis;
  int64_t batch_dims;
};

Status GatherShape(ShapeContext& ctx) {
  const PartialShape &params = ctx.input(0), &indices = ctx.input(1);
  bool has_axis = ctx.attrs().op() == "GatherV2";
  if (!params.has_rank() || !indices.has_rank()) return OkStatus();
  if (params.rank() < 1) return InvalidArgument("params must be at least 1 dimensional");
  int64_t batch = has_axis ? ctx.attrs().GetInt("batch_dims") : 0, axis = 0;
  if (batch < 0) batch += indices.rank();
  if (batch < 0 || batch > indices.rank() || batch > params.rank()) return InvalidArgument("batch_dims is too large for indices of shape ", indices.ToString());
  if (has_axis && !ConstantScalar(ctx, 2, &axis)) {
    ctx.set_output(0, PartialShape::UnknownOfRank(params.rank() - 1 + indices.rank() - static_cast<int>(batch)));
    return OkStatus();
  }
  if (axis < -params.rank() || axis >= params.rank()) {
    return InvalidArgument("Expected axis in the range [", -params.rank(), ", ", params.rank(), "), but got ", axis);
  }
  if (axis < 0) axis += params.rank();
  if (batch > axis) return InvalidArgument("batch_dims (", batch, ") must be less than or equal to axis (", axis, ").");
  std::vector<int64_t> sizes;
  for (int i = 0; i < params.rank(); ++i) {
    if (i == axis) {
      for (int k = static_cast<int>(batch); k < indices.rank(); ++k) sizes.push_back(indices.dim(k));
    } else {
      sizes.push_back(params.dim(i));
    }
  }
  ctx.set_output(0, PartialShape(sizes));
  return OkStatus();
}

// Adds up the rows that came from the same place. With the axis in front it is one segment sum.
Status GatherGradient(GradientScope& g) {
  const Node& node = g.node();
  bool has_axis = node.op_name() == "GatherV2";
  int64_t axis = 0, batch = has_axis ? g.attrs().GetInt("batch_dims") : 0;
  const PartialShape& params = g.input(0).shape();
  const PartialShape& indices_shape = g.input(1).shape();
  if (has_axis) {
    const Node* source = g.input(2).node;
    if (source == nullptr || source->op_name() != "Const") return Unimplemented("the gradient of GatherV2 needs a constant axis");
    ASSIGN_OR_RETURN(Tensor value, source->attrs().GetTensor("value"));
    ASSIGN_OR_RETURN(axis, ReadScalar(value, "axis"));
  }
  if (axis < 0 || batch < 0 || axis > 0) {
    if (!params.has_rank() || !indices_shape.has_rank()) return Unimplemented("the gradient of GatherV2 along axis ", axis, " needs inputs of known rank");
    if (axis < 0) axis += params.rank();
    if (batch < 0) batch += indices_shape.rank();
  }
  if (batch > 0) return Unimplemented("the gradient of GatherV2 with batch_dims is not supported");
  Output minus_one = g.Const(Tensor(std::vector<int32_t>{-1}));
  Output indices = g.Op("Reshape", {g.input(1), minus_one});
  Output shape = g.Op("Shape", {g.input(0)});
  auto slice_shape = [&](int64_t begin, int64_t end, bool is_to_end) {
    return g.Op("StridedSlice", {shape, g.Const(Tensor(std::vector<int32_t>{static_cast<int32_t>(begin)})),
                                 g.Const(Tensor(std::vector<int32_t>{static_cast<int32_t>(end)})), g.Const(Tensor(std::vector<int32_t>{1}))},
                {{"end_mask", is_to_end ? 1 : 0}});
  };
  Output rows = g.Op("Reshape", {slice_shape(axis, axis + 1, false), g.Const(Tensor(std::vector<int32_t>{}))});
  Output values_shape = g.Op("ConcatV2", {slice_shape(0, axis, false), minus_one, slice_shape(axis + 1, 0, true), g.Scalar(0, kInt32)}, {{"N", 3}});
  // [-1] stands for all indices; a tensor with a zero among the other sizes has no gradient to speak of.
  Output count = g.Op("Size", {g.input(1)});
  values_shape = g.Op("ConcatV2", {slice_shape(0, axis, false), g.Op("Reshape", {count, minus_one}), slice_shape(axis + 1, 0, true), g.Scalar(0, kInt32)}, {{"N", 3}});
  Output values = g.Op("Reshape", {g.grad(0), values_shape});
  std::vector<int32_t> to_front, back;
  if (axis > 0) {
    to_front.resize(params.rank());
    back.resize(params.rank());
    for (int i = 0; i < params.rank(); ++i) to_front[i] = i == 0 ? static_cast<int32_t>(axis) : i <= axis ? i - 1 : i;
    for (int i = 0; i < params.rank(); ++i) back[to_front[i]] = i;
    values = g.Op("Transpose", {values, g.Const(Tensor(to_front))});
  }
  Output sum = g.Op("UnsortedSegmentSum", {values, indices, rows});
  if (axis > 0) sum = g.Op("Transpose", {sum, g.Const(Tensor(back))});
  std::vector<Output> gradients(g.num_inputs());
  gradients[0] = sum;
  return g.Return(gradients);
}

DEFINE_OP("Gather")
    .Input("params: Tparams")
    .Input("indices: Tindices")
    .Output("output: Tparams")
    .Attr("validate_indices: bool = true")
    .Attr("Tparams: type")
    .Attr("Tindices: IDX")
    .Shape(GatherShape)
    .Cpu(AnyType<Gather>())
    .Gradient(GatherGradient);

DEFINE_OP("GatherV2")
    .Input("params: Tparams")
    .Input("indices: Tindices")
    .Input("axis: Taxis")
    .Output("output: Tparams")
    .Attr("batch_dims: int = 0")
    .Attr("Tparams: type")
    .Attr("Tindices: {int16, int32, int64}")
    .Attr("Taxis: IDX")
    .Shape(GatherShape)
    .Cpu(AnyType<Gather>())
    .Gradient(GatherGradient);

}  // namespace
}  // namespace tandem
