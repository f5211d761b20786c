// Gather and GatherV2: rows of a tensor, named by indices.
#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "graph/gradient.h"
#include "graph/node.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"
#include "ops/array/nd_index.h"
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
      Multiply(i < batch ? &sizes.batch : i < axis ? &sizes.outer : i == axis ? &sizes.rows : &sizes.inner, params.dim(i));
      if (i != axis) {
        shape.AddDim(params.dim(i));
        continue;
      }
      for (int k = static_cast<int>(batch); k < indices.shape().rank(); ++k) {
        shape.AddDim(indices.shape().dim(k));
        Multiply(&sizes.count, indices.shape().dim(k));
      }
    }
    ASSIGN_OR_RETURN(shape, Shape::Checked(shape.dims()));
    if (indices.dtype() == kInt32) return GatherBy<int32_t>(ctx, sizes, indices, shape);
    if (indices.dtype() == kInt64) return GatherBy<int64_t>(ctx, sizes, indices, shape);
    return GatherBy<int16_t>(ctx, sizes, indices, shape);
  }

  // Modulo 2^64: beside a size of 0 the others may be too many to multiply, and are not used.
  static void Multiply(int64_t* product, int64_t size) { *product = static_cast<int64_t>(static_cast<uint64_t>(*product) * static_cast<uint64_t>(size)); }

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

// sizes[begin:end] of a shape vector; numbers below zero count from the end, kEnd is the end.
constexpr int64_t kEnd = std::numeric_limits<int32_t>::max();
Output Sizes(GradientScope& g, Output sizes, int64_t begin, int64_t end) {
  auto vector = [&](int64_t value) { return g.Const(Tensor(std::vector<int32_t>{static_cast<int32_t>(value)})); };
  return g.Op("StridedSlice", {sizes, vector(begin), vector(end), vector(1)});
}

Output Joined(GradientScope& g, std::vector<Output> vectors) {
  int count = static_cast<int>(vectors.size());
  vectors.push_back(g.Scalar(0, kInt32));
  return g.Op("ConcatV2", vectors, {{"N", count}});
}

// Along axis 0: adds up the rows that came from the same place.
Output RowsGradient(GradientScope& g) {
  Output shape = g.Op("Shape", {g.input(0)});
  Output count = g.Op("ExpandDims", {g.Op("Size", {g.input(1)}), g.Scalar(0, kInt32)});
  Output values = g.Op("Reshape", {g.grad(0), Joined(g, {count, Sizes(g, shape, 1, kEnd)})});
  Output rows = g.Op("Squeeze", {Sizes(g, shape, 0, 1)});
  return g.Op("UnsortedSegmentSum", {values, g.Op("Reshape", {g.input(1), g.Const(Tensor(std::vector<int32_t>{-1}))}), rows});
}

// Along any axis, with the sizes [batch, outer, rows, inner] of GatherSizes: with rows of all batches in front it is a sum of rows too.
Output AxisGradient(GradientScope& g, int64_t axis, int64_t batch_dims) {
  auto product = [&](Output sizes) { return g.Op("Prod", {sizes, g.Const(Tensor(std::vector<int32_t>{0}))}, {{"keep_dims", true}}); };
  Output shape = g.Op("Shape", {g.input(0)}), indices_shape = g.Op("Shape", {g.input(1)});
  Output batch = product(Sizes(g, shape, 0, batch_dims)), outer = product(Sizes(g, shape, batch_dims, axis));
  Output rows = Sizes(g, shape, axis, axis == -1 ? kEnd : axis + 1), inner = product(Sizes(g, shape, axis == -1 ? kEnd : axis + 1, kEnd));
  Output count = product(Sizes(g, indices_shape, batch_dims, kEnd));
  Output swap = g.Const(Tensor(std::vector<int32_t>{0, 2, 1, 3}));
  Output values = g.Op("Transpose", {g.Op("Reshape", {g.grad(0), Joined(g, {batch, outer, count, inner})}), swap});
  values = g.Op("Reshape", {values, Joined(g, {g.Mul(batch, count), outer, inner})});
  Output batch_numbers = g.Op("Range", {g.Scalar(0, kInt32), g.Op("Squeeze", {batch}), g.Scalar(1, kInt32)});
  Output first_rows = g.Op("ExpandDims", {g.Mul(batch_numbers, rows), g.Scalar(1, kInt32)});
  if (g.input(1).dtype() != kInt32) first_rows = g.Op("Cast", {first_rows}, {{"DstT", g.input(1).dtype()}});
  Output ids = g.Add(g.Op("Reshape", {g.input(1), Joined(g, {batch, count})}), first_rows);
  ids = g.Op("Reshape", {ids, g.Const(Tensor(std::vector<int32_t>{-1}))});
  Output sum = g.Op("UnsortedSegmentSum", {values, ids, g.Op("Squeeze", {g.Mul(batch, rows)})});
  sum = g.Op("Transpose", {g.Op("Reshape", {sum, Joined(g, {batch, rows, outer, inner})}), swap});
  return g.Op("Reshape", {sum, shape});
}

Status GatherGradient(GradientScope& g) {
  int64_t axis = 0, batch_dims = 0;
  if (g.node().op_name() == "GatherV2") {
    const Node* source = g.input(2).node;
    if (source->op_name() != "Const") return Unimplemented("the gradient of GatherV2 needs a constant axis");
    ASSIGN_OR_RETURN(Tensor value, source->attrs().GetTensor("value"));
    ASSIGN_OR_RETURN(axis, ReadScalar(value, "axis"));
    batch_dims = g.attrs().GetInt("batch_dims");
    if (batch_dims < 0 && !g.input(1).shape().has_rank()) {
      return Unimplemented("the gradient of GatherV2 with batch_dims ", batch_dims, " needs indices of known rank");
    }
    if (batch_dims < 0) batch_dims += g.input(1).shape().rank();
  }
  std::vector<Output> gradients(g.num_inputs());
  gradients[0] = axis == 0 ? RowsGradient(g) : AxisGradient(g, axis, batch_dims);
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
