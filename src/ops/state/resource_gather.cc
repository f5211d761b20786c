// ResourceGather, ResourceGatherNd: rows of a variable, without a copy of the whole.
#include <cstring>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "kernel/indices.h"
#include "kernel/variable_access.h"

namespace tandem {
namespace {

// Copies `width` elements; strings one by one, the rest as bytes.
void CopyElements(const Tensor& from, int64_t from_offset, Tensor& to, int64_t to_offset, int64_t width) {
  if (from.dtype() == kString) {
    const std::string* source = from.data<std::string>() + from_offset;
    std::copy(source, source + width, to.mutable_data<std::string>() + to_offset);
    return;
  }
  const size_t size = DataTypeSize(from.dtype());
  std::memcpy(static_cast<char*>(to.mutable_raw_data()) + to_offset * size, static_cast<const char*>(from.raw_data()) + from_offset * size, width * size);
}

// A variable under its reader lock. A tensor taken from it instead would make the next update copy the whole table.
class VariableReader {
 public:
  ~VariableReader() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (variable_ != nullptr) variable_->mu.ReaderUnlock();
  }

  Status Open(const KernelContext& ctx, int i, DataType dtype) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    ASSIGN_OR_RETURN(const ResourceHandle* handle, HandleInput(ctx, i));
    StatusOr<std::shared_ptr<ResourceVariable>> variable = FindResource<ResourceVariable>(ctx, *handle);
    if (absl::IsNotFound(variable.status())) return UninitializedVariable(*handle);
    RETURN_IF_ERROR(variable.status());
    variable_ = *std::move(variable);
    variable_->mu.ReaderLock();
    if (!value().has_value()) return UninitializedVariable(*handle);
    if (value().dtype() != dtype || (!IsPlainData(dtype) && dtype != kString)) {
      return InvalidArgument("Trying to gather ", DataTypeName(dtype), " from a variable of type ", DataTypeName(value().dtype()));
    }
    return OkStatus();
  }

  const Tensor& value() const ABSL_NO_THREAD_SAFETY_ANALYSIS { return variable_->value; }

 private:
  std::shared_ptr<ResourceVariable> variable_;
};

struct ResourceGather {
  explicit ResourceGather(const Attrs& attrs) : batch_dims(static_cast<int>(attrs.GetInt("batch_dims"))), dtype(attrs.GetType("dtype")) {}

  Status Run(KernelContext& ctx) const {
    VariableReader variable;
    RETURN_IF_ERROR(variable.Open(ctx, 0, dtype));
    const Tensor &params = variable.value(), &indices = ctx.input(1);
    const Shape &from = params.shape(), &at = indices.shape();
    const int batch = batch_dims < 0 ? batch_dims + at.rank() : batch_dims;
    if (from.rank() < 1) return InvalidArgument("params must be at least 1 dimensional");
    if (batch < 0 || batch > at.rank() || batch >= from.rank()) {
      return InvalidArgument("batch_dims (", batch_dims, ") must be less than rank(params) (", from.rank(), ") and at most rank(indices) (", at.rank(), ")");
    }
    Shape result;
    int64_t batches = 1, width = 1;
    for (int d = 0; d < batch; ++d) {
      if (from.dim(d) != at.dim(d)) return InvalidArgument("params.shape[", d, "]: ", from.dim(d), " should be equal to indices.shape[", d, "]: ", at.dim(d));
      batches *= from.dim(d);
      result.AddDim(from.dim(d));
    }
    for (int d = batch; d < at.rank(); ++d) result.AddDim(at.dim(d));
    for (int d = batch + 1; d < from.rank(); ++d) {
      width *= from.dim(d);
      result.AddDim(from.dim(d));
    }
    ASSIGN_OR_RETURN(result, Shape::Checked(result.dims()));
    ASSIGN_OR_RETURN(Tensor* gathered, ctx.Allocate(0, result));

    const int64_t rows = from.dim(batch);
    const int64_t per_batch = batches == 0 ? 0 : indices.num_elements() / batches;
    const int64_t bad = ForEachIndex(indices, rows, [&](int64_t i, int64_t row) {
      CopyElements(params, ((batch == 0 ? 0 : i / per_batch * rows) + row) * width, *gathered, i * width, width);
    });
    return bad < 0 ? OkStatus() : IndexOutOfRange(indices, bad, rows);
  }

  const int batch_dims;
  const DataType dtype;
};

// Dense: the rows of the gradient are added up where they were taken from.
Status ResourceGatherGradient(GradientScope& g) {
  if (g.attrs().GetInt("batch_dims") != 0) return Unimplemented("gradient of ResourceGather with batch_dims");
  const Output shape = g.Op("VariableShape", {g.input(0)}, {{"out_type", kInt32}});
  const Output zero = g.Const(Tensor::Vector<int32_t>({0})), one = g.Const(Tensor::Vector<int32_t>({1})), rest = g.Const(Tensor::Vector<int32_t>({-1}));
  const Output row_shape = g.Op("Slice", {shape, one, rest});
  const Output rows = g.Op("Reshape", {g.Op("Slice", {shape, zero, one}), g.Const(Tensor::Vector<int32_t>(std::vector<int32_t>()))});
  const Output count = g.Op("Reshape", {g.Op("Size", {g.input(1)}), one});
  const Output values = g.Op("Reshape", {g.grad(0), g.Op("ConcatV2", {count, row_shape, g.Const(Tensor(int32_t{0}))}, {{"N", 2}})});
  const Output indices = g.Op("Reshape", {g.input(1), count});
  return g.Return({g.Op("UnsortedSegmentSum", {values, indices, rows}), Output()});
}

DEFINE_OP("ResourceGather")
    .Input("resource: resource")
    .Input("indices: Tindices")
    .Output("output: dtype")
    .Attr("batch_dims: int = 0")
    .Attr("validate_indices: bool = true")
    .Attr("dtype: type")
    .Attr("Tindices: IDX")
    .Stateful()
    .Shape(UnknownShapes)
    .Cpu(AnyType<ResourceGather>())
    .Gradient(ResourceGatherGradient);

struct ResourceGatherNd {
  explicit ResourceGatherNd(const Attrs& attrs) : dtype(attrs.GetType("dtype")) {}

  Status Run(KernelContext& ctx) const {
    VariableReader variable;
    RETURN_IF_ERROR(variable.Open(ctx, 0, dtype));
    const Tensor &params = variable.value(), &indices = ctx.input(1);
    const Shape& from = params.shape();
    if (from.rank() < 1) return InvalidArgument("params must be at least a vector");
    if (indices.shape().rank() < 1) return InvalidArgument("indices must be at least a vector");
    const int outer = indices.shape().rank() - 1;
    const int64_t depth = indices.shape().dim(outer);
    if (depth > from.rank()) return InvalidArgument("index innermost dimension length must be <= params rank; saw: ", depth, " vs. ", from.rank());

    Shape result;
    int64_t count = 1, width = 1;
    for (int d = 0; d < outer; ++d) {
      count *= indices.shape().dim(d);
      result.AddDim(indices.shape().dim(d));
    }
    for (int d = static_cast<int>(depth); d < from.rank(); ++d) {
      width *= from.dim(d);
      result.AddDim(from.dim(d));
    }
    ASSIGN_OR_RETURN(result, Shape::Checked(result.dims()));
    ASSIGN_OR_RETURN(Tensor* gathered, ctx.Allocate(0, result));
    const IndexReader reader(indices);
    for (int64_t i = 0; i < count; ++i) {
      int64_t slice = 0;
      for (int d = 0; d < depth; ++d) {
        const int64_t index = reader[i * depth + d];
        if (index < 0 || index >= from.dim(d)) return BadIndex(indices, i, static_cast<int>(depth), from);
        slice = slice * from.dim(d) + index;
      }
      CopyElements(params, slice * width, *gathered, i * width, width);
    }
    return OkStatus();
  }

  static Status BadIndex(const Tensor& indices, int64_t i, int depth, const Shape& params) {
    const IndexReader reader(indices);
    std::vector<int64_t> index;
    for (int d = 0; d < depth; ++d) index.push_back(reader[i * depth + d]);
    Shape vectors = indices.shape();
    vectors.RemoveDim(vectors.rank() - 1);
    return InvalidArgument("indices", PositionInShape(vectors, i), " = [", absl::StrJoin(index, ", "), "] does not index into param shape ",
                           params.ToString());
  }

  const DataType dtype;
};

Status ResourceGatherNdGradient(GradientScope& g) {
  const DataType index_type = g.attrs().GetType("Tindices");
  const Output shape = g.Op("VariableShape", {g.input(0)}, {{"out_type", index_type}});
  return g.Return({g.Op("ScatterNd", {g.input(1), g.grad(0), shape}), Output()});
}

DEFINE_OP("ResourceGatherNd")
    .Input("resource: resource")
    .Input("indices: Tindices")
    .Output("output: dtype")
    .Attr("dtype: type")
    .Attr("Tindices: IDX")
    .Stateful()
    .Shape(UnknownShapes)
    .Cpu(AnyType<ResourceGatherNd>())
    .Gradient(ResourceGatherNdGradient);

}  // namespace
}  // namespace tandem
