// ScatterNdAdd and kin on variables: slices, chosen by index vectors, are combined with slices of updates.
#include "absl/container/inlined_vector.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "kernel/indices.h"
#include "kernel/variable_access.h"
#include "ops/state/scatter_rows.h"

namespace tandem {
namespace {

struct ScatterNd {
  explicit ScatterNd(const Attrs& attrs)
      : kind(ScatterKindOf(attrs.op())), dtype(attrs.GetType("T")), use_locking(attrs.GetBool("use_locking")) {
    const std::string policy = attrs.GetString("bad_indices_policy");
    ignores_bad_indices = policy == "IGNORE";
    if (!policy.empty() && policy != "ERROR" && policy != "DEFAULT" && !ignores_bad_indices) {
      attrs.Fail(InvalidArgument("bad_indices_policy must be '', 'DEFAULT', 'ERROR' or 'IGNORE', got '", policy, "'"));
    }
  }

  Status Run(KernelContext& ctx) const {
    VariableUpdate update;
    RETURN_IF_ERROR(update.Open(ctx, {0}, dtype, use_locking, absl::StatusCode::kNotFound));
    RETURN_IF_ERROR(Combine(update.value(0), ctx.input(1), ctx.input(2)));
    if (ctx.num_outputs() > 0) ctx.set_ref_output(0, update.variable(0));
    return OkStatus();
  }

  Status Combine(Tensor& params, const Tensor& indices, const Tensor& updates) const {
    RETURN_IF_ERROR(CheckShapes(params.shape(), indices.shape(), updates.shape()));
    const int depth = static_cast<int>(indices.shape().dim(indices.shape().rank() - 1));
    int64_t count = 1, width = 1;
    for (int d = 0; d + 1 < indices.shape().rank(); ++d) count *= indices.shape().dim(d);
    for (int d = depth; d < params.shape().rank(); ++d) width *= params.shape().dim(d);
    if (count == 0 || width == 0) return OkStatus();

    const ScatterRows combiner(kind, params, updates, width);
    RETURN_IF_ERROR(combiner.status());
    const IndexReader reader(indices);
    // First a look at all of them, so that a wrong index changes nothing.
    for (const bool is_rehearsal : {true, false}) {
      for (int64_t i = 0; i < count; ++i) {
        const int64_t slice = SliceAt(reader, i, depth, params.shape());
        if (slice < 0 && !ignores_bad_indices) return BadIndex(indices, i, depth, params.shape());
        if (slice < 0 || is_rehearsal) continue;
        if (!combiner.Combine(slice * width, i)) return ScatterRows::DivisionByZero();
      }
    }
    return OkStatus();
  }

  // The number of the slice that index vector i names; -1 if there is none.
  static int64_t SliceAt(const IndexReader& reader, int64_t i, int depth, const Shape& params) {
    int64_t slice = 0;
    for (int d = 0; d < depth; ++d) {
      const int64_t index = reader[i * depth + d];
      if (index < 0 || index >= params.dim(d)) return -1;
      slice = slice * params.dim(d) + index;
    }
    return slice;
  }

  static Status BadIndex(const Tensor& indices, int64_t i, int depth, const Shape& params) {
    const IndexReader reader(indices);
    std::vector<int64_t> index;
    for (int d = 0; d < depth; ++d) index.push_back(reader[i * depth + d]);
    Shape vectors = indices.shape();
    vectors.RemoveDim(vectors.rank() - 1);
    return InvalidArgument("indices", PositionInShape(vectors, i), " = [", absl::StrJoin(index, ", "), "] does not index into shape ", params.ToString());
  }

  static Status CheckShapes(const Shape& params, const Shape& indices, const Shape& updates) {
    if (indices.rank() < 1) return InvalidArgument("Indices shape must have rank at least one. Found: ", indices.ToString());
    if (updates.rank() < 1) return InvalidArgument("Updates shape must have rank at least one. Found: ", updates.ToString());
    const int outer = indices.rank() - 1;
    const int64_t depth = indices.dim(outer);
    if (depth > params.rank()) {
      return InvalidArgument("The last dimension of indices, ", indices.ToString(), ", must be at most the rank of the variable, ", params.ToString());
    }
    for (int d = 0; d < outer; ++d) {
      if (d < updates.rank() && updates.dim(d) == indices.dim(d)) continue;
      return InvalidArgument("Dimensions [0,", outer, ") of indices[shape=", indices.ToString(), "] must match dimensions [0,", outer,
                             ") of updates[shape=", updates.ToString(), "]");
    }
    const int inner = params.rank() - static_cast<int>(depth);
    bool fits = updates.rank() == outer + inner;
    for (int d = 0; fits && d < inner; ++d) fits = updates.dim(outer + d) == params.dim(static_cast<int>(depth) + d);
    if (fits) return OkStatus();
    return InvalidArgument("Dimensions [", depth, ",", params.rank(), ") of input[shape=", params.ToString(), "] must match dimensions [", outer, ",",
                           updates.rank(), ") of updates[shape=", updates.ToString(), "]");
  }

  const ScatterKind kind;
  const DataType dtype;
  const bool use_locking;
  bool ignores_bad_indices;
};

#define DEFINE_SCATTER_ND(Name, types, locking)  \
  DEFINE_OP("ScatterNd" Name)                    \
      .Input("ref: Ref(T)")                      \
      .Input("indices: Tindices")                \
      .Input("updates: T")                       \
      .Output("output_ref: Ref(T)")              \
      .Attr("T: " types)                         \
      .Attr("Tindices: IDX")                     \
      .Attr("use_locking: bool = " locking)      \
      .Attr("bad_indices_policy: string = ''")   \
      .Shape(SameAsInput0)                       \
      .Cpu(AnyType<ScatterNd>())                 \
      .NoGradient()

DEFINE_SCATTER_ND("Update", "type", "true");
DEFINE_SCATTER_ND("Add", "NUM", "false");
DEFINE_SCATTER_ND("Sub", "NUM", "false");

#define DEFINE_RESOURCE_SCATTER_ND(Name, types)  \
  DEFINE_OP("ResourceScatterNd" Name)            \
      .Input("ref: resource")                    \
      .Input("indices: Tindices")                \
      .Input("updates: T")                       \
      .Attr("T: " types)                         \
      .Attr("Tindices: IDX")                     \
      .Attr("use_locking: bool = true")          \
      .Attr("bad_indices_policy: string = ''")   \
      .Stateful()                                \
      .Shape(NoOutputs)                          \
      .Cpu(AnyType<ScatterNd>())                 \
      .NoGradient()

DEFINE_RESOURCE_SCATTER_ND("Update", "type");
DEFINE_RESOURCE_SCATTER_ND("Add", "type");
DEFINE_RESOURCE_SCATTER_ND("Sub", "type");

}  // namespace
}  // namespace tandem
