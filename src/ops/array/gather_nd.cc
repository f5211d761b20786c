// GatherNd: slices of a tensor, each named by some coordinates.
#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/nd_index.h"
#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

// Whether an index out of range gives zeros (or is left out) instead of an error; policies of TensorFlow 2.17 and later.
StatusOr<bool> IgnoresBadIndices(const Attrs& attrs) {
  std::string policy = attrs.GetString("bad_indices_policy");
  if (policy == "IGNORE") return true;
  if (policy.empty() || policy == "DEFAULT" || policy == "ERROR") return false;
  return InvalidArgument("Unknown bad indices handling attribute: ", policy);
}

struct GatherNd {
  explicit GatherNd(const Attrs& attrs) {
    StatusOr<bool> ignores = IgnoresBadIndices(attrs);
    if (!ignores.ok()) attrs.Fail(ignores.status());
    ignores_bad = ignores.ok() && *ignores;
  }

  Status Run(KernelContext& ctx) const {
    const Tensor &params = ctx.input(0), &indices = ctx.input(1);
    if (params.shape().rank() < 1) return InvalidArgument("params must be at least a vector");
    ASSIGN_OR_RETURN(NdIndex index, ReadNdIndex(indices, params.shape()));
    Shape shape = index.outer;
    for (int64_t size : index.slice.dims()) shape.AddDim(size);
    ASSIGN_OR_RETURN(shape, Shape::Checked(shape.dims()));
    if (params.num_elements() == 0 && shape.num_elements() > 0) {
      return InvalidArgument("Requested more than 0 entries, but params is empty.  Params shape: ", params.shape().ToString());
    }
    if (!ignores_bad) {
      if (Status status = CheckNdIndex(index, indices, params.shape(), "param shape"); !status.ok()) {
        return InvalidArgument(status.message(), ", node name: ", ctx.node_name());
      }
    }
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    if (index.first_bad >= 0) SetToZero(output);
    return WithElement(params.dtype(), [&]<typename E>() {
      const E* from = ElementsOf<E>(params);
      E* to = MutableElementsOf<E>(output);
      index.ForEachSlice([&](int64_t offset) {
        if (offset >= 0) CopyElements(from + offset, index.slice_size, to);
        to += index.slice_size;
      });
      return OkStatus();
    });
  }

  bool ignores_bad = false;
};

Status GatherNdShape(ShapeContext& ctx) {
  const PartialShape &params = ctx.input(0), &indices = ctx.input(1);
  if (!params.has_rank() || !indices.has_rank()) return OkStatus();
  if (indices.rank() < 1) return InvalidArgument("indices must be at least a vector");
  int64_t depth = indices.dim(indices.rank() - 1);
  if (depth < 0) return OkStatus();
  if (depth > params.rank()) {
    return InvalidArgument("indices.shape[-1] must be <= params.rank, but saw indices shape: ", indices.ToString(), " and params shape: ", params.ToString());
  }
  Integers sizes(indices.dims().begin(), indices.dims().end() - 1);
  for (int i = static_cast<int>(depth); i < params.rank(); ++i) sizes.push_back(params.dim(i));
  ctx.set_output(0, PartialShape(sizes));
  return OkStatus();
}

Status GatherNdGradient(GradientScope& g) {
  Output shape = g.Op("Shape", {g.input(0)}, {{"out_type", g.input(1).dtype()}});
  return g.Return({g.Op("ScatterNd", {g.input(1), g.grad(0), shape}), Output()});
}

DEFINE_OP("GatherNd")
    .Input("params: Tparams")
    .Input("indices: Tindices")
    .Output("output: Tparams")
    .Attr("Tparams: type")
    .Attr("Tindices: {int16, int32, int64}")
    .Attr("bad_indices_policy: string = ''")
    .Shape(GatherNdShape)
    .Cpu(AnyType<GatherNd>())
    .Gradient(GatherNdGradient);

}  // namespace
}  // namespace tandem
