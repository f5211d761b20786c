// DynamicPartition takes a tensor apart by row; DynamicStitch puts rows together.
#include <algorithm>
#include <vector>

#include "graph/gradient.h"
#include "graph/node.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"
#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

bool StartsWith(const Shape& shape, const Shape& prefix) {
  if (shape.rank() < prefix.rank()) return false;
  for (int i = 0; i < prefix.rank(); ++i) {
    if (shape.dim(i) != prefix.dim(i)) return false;
  }
  return true;
}

Shape DropDims(const Shape& shape, int count) { return Shape(shape.dims().subspan(count)); }

struct DynamicStitch {
  Status Run(KernelContext& ctx) const {
    int count = ctx.num_inputs() / 2;
    int32_t max_index = -1;
    const Shape& data0 = ctx.input(count).shape();
    const Shape& indices0 = ctx.input(0).shape();
    for (int i = 0; i < count; ++i) {
      const Shape &indices = ctx.input(i).shape(), &data = ctx.input(count + i).shape();
      if (!StartsWith(data, indices)) {
        return InvalidArgument("data[", i, "].shape = ", data.ToString(), " does not start with indices[", i, "].shape = ", indices.ToString());
      }
      if (DropDims(data, indices.rank()) != DropDims(data0, indices0.rank())) {
        return InvalidArgument("Need data[0].shape[", indices0.rank(), ":] = data[", i, "].shape[", indices.rank(), ":], got data[0].shape = ",
                               data0.ToString(), ", data[", i, "].shape = ", data.ToString(), ", indices[0].shape = ", indices0.ToString(), ", indices[",
                               i, "].shape = ", indices.ToString());
      }
      for (int32_t index : ctx.input(i).values<int32_t>()) max_index = std::max(max_index, index);
    }
    Shape row = DropDims(data0, indices0.rank()), shape = row;
    shape.InsertDim(0, int64_t{max_index} + 1);
    ASSIGN_OR_RETURN(shape, Shape::Checked(shape.dims()));
    ASSIGN_OR_RETURN(Tensor* merged, ctx.Allocate(0, shape));
    SetToZero(merged);
    int64_t row_size = max_index < 0 ? 0 : merged->num_elements() / (int64_t{max_index} + 1);
    return WithElement(merged->dtype(), [&]<typename E>() {
      E* to = MutableElementsOf<E>(merged);
      for (int i = 0; i < count; ++i) {
        const E* from = ElementsOf<E>(ctx.input(count + i));
        for (int32_t index : ctx.input(i).values<int32_t>()) {
          if (index < 0 || index > max_index) return InvalidArgument("indices[", i, "] is out of range");
          CopyElements(from, row_size, to + index * row_size);
          from += row_size;
        }
      }
      return OkStatus();
    });
  }
};

Status DynamicStitchShape(ShapeContext& ctx) {
  int count = ctx.num_inputs() / 2;
  PartialShape row;
  int64_t rows = 0;
  for (int i = 0; i < count; ++i) {
    const PartialShape &indices = ctx.input(i), &data = ctx.input(count + i);
    if (ctx.constant(i) == nullptr) {
      rows = kUnknownSize;
    } else if (rows != kUnknownSize) {
      for (int32_t index : ctx.constant(i)->values<int32_t>()) rows = std::max<int64_t>(rows, int64_t{index} + 1);
    }
    if (!indices.has_rank() || !data.has_rank()) continue;
    if (data.rank() < indices.rank()) {
      return InvalidArgument("data[", i, "].shape = ", data.ToString(), " does not start with indices[", i, "].shape = ", indices.ToString());
    }
    ASSIGN_OR_RETURN(row, PartialShape::Merge(row, PartialShape(data.dims().subspan(indices.rank()))));
  }
  if (!row.has_rank()) return OkStatus();
  Integers sizes = {rows};
  sizes.insert(sizes.end(), row.dims().begin(), row.dims().end());
  ctx.set_output(0, PartialShape(sizes));
  return OkStatus();
}

Status DynamicStitchGradient(GradientScope& g) {
  int count = g.num_inputs() / 2;
  std::vector<Output> gradients(g.num_inputs());
  for (int i = 0; i < count; ++i) gradients[count + i] = g.Op("GatherV2", {g.grad(0), g.input(i), g.Scalar(0, kInt32)});
  return g.Return(gradients);
}

struct DynamicPartition {
  Status Run(KernelContext& ctx) const {
    const Tensor &data = ctx.input(0), &partitions = ctx.input(1);
    if (!StartsWith(data.shape(), partitions.shape())) {
      return InvalidArgument("data.shape must start with partitions.shape, got data.shape = ", data.shape().ToString(),
                             ", partitions.shape = ", partitions.shape().ToString());
    }
    int count = ctx.num_outputs();
    std::vector<int32_t> part_of(partitions.values<int32_t>().begin(), partitions.values<int32_t>().end());
    Integers sizes(count, 0);
    for (size_t i = 0; i < part_of.size(); ++i) {
      if (part_of[i] < 0 || part_of[i] >= count) return InvalidArgument("partitions[", i, "] = ", part_of[i], " is not in [0, ", count, ")");
      ++sizes[part_of[i]];
    }
    Shape row = DropDims(data.shape(), partitions.shape().rank());
    int64_t row_size = part_of.empty() ? 0 : data.num_elements() / partitions.num_elements();
    std::vector<Tensor*> outputs(count);
    for (int i = 0; i < count; ++i) {
      Shape shape = row;
      shape.InsertDim(0, sizes[i]);
      ASSIGN_OR_RETURN(outputs[i], ctx.Allocate(i, shape));
    }
    return WithElement(data.dtype(), [&]<typename E>() {
      std::vector<E*> to(count);
      for (int i = 0; i < count; ++i) to[i] = MutableElementsOf<E>(outputs[i]);
      const E* from = ElementsOf<E>(data);
      for (int32_t part : part_of) {
        CopyElements(from, row_size, to[part]);
        to[part] += row_size;
        from += row_size;
      }
      return OkStatus();
    });
  }
};

Status DynamicPartitionShape(ShapeContext& ctx) {
  const PartialShape &data = ctx.input(0), &partitions = ctx.input(1);
  if (!data.has_rank() || !partitions.has_rank()) return OkStatus();
  if (data.rank() < partitions.rank()) {
    return InvalidArgument("data.shape must start with partitions.shape, got data.shape = ", data.ToString(), ", partitions.shape = ", partitions.ToString());
  }
  Integers sizes = {kUnknownSize};
  for (int i = partitions.rank(); i < data.rank(); ++i) sizes.push_back(data.dim(i));
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.set_output(i, PartialShape(sizes));
  return OkStatus();
}

// Partitions the row numbers the same way; they say where each row of the gradients belongs.
Status DynamicPartitionGradient(GradientScope& g) {
  int count = static_cast<int>(g.node().output_types.size());
  Output partitions = g.input(1);
  Output shape = g.Op("Shape", {partitions});
  Output size = g.Op("Size", {partitions});
  Output numbers = g.Op("Reshape", {g.Op("Range", {g.Scalar(0, kInt32), size, g.Scalar(1, kInt32)}), shape});
  std::vector<Output> inputs = g.OpList("DynamicPartition", {numbers, partitions}, {{"num_partitions", count}});
  for (int i = 0; i < count; ++i) inputs.push_back(g.grad(i));
  Output rows = g.Op("DynamicStitch", inputs, {{"N", count}});
  return g.Return({g.Op("Reshape", {rows, g.ShapeOf(g.input(0))}), Output()});
}

DEFINE_OP("DynamicStitch")
    .Input("indices: N * int32")
    .Input("data: N * T")
    .Output("merged: T")
    .Attr("N: int >= 1")
    .Attr("T: type")
    .Shape(DynamicStitchShape)
    .Cpu(AnyType<DynamicStitch>())
    .Gradient(DynamicStitchGradient);

DEFINE_OP("ParallelDynamicStitch")
    .Input("indices: N * int32")
    .Input("data: N * T")
    .Output("merged: T")
    .Attr("N: int >= 1")
    .Attr("T: type")
    .Shape(DynamicStitchShape)
    .Cpu(AnyType<DynamicStitch>())
    .Gradient(DynamicStitchGradient);

DEFINE_OP("DynamicPartition")
    .Input("data: T")
    .Input("partitions: int32")
    .Output("outputs: num_partitions * T")
    .Attr("num_partitions: int >= 1")
    .Attr("T: type")
    .Shape(DynamicPartitionShape)
    .Cpu(AnyType<DynamicPartition>())
    .Gradient(DynamicPartitionGradient);

}  // namespace
}  // namespace tandem
