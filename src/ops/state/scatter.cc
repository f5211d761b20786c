// ScatterAdd and kin, ResourceScatterAdd and kin: rows of a variable, chosen by index, are combined with rows of updates.
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "kernel/indices.h"
#include "kernel/variable_access.h"
#include "ops/state/scatter_rows.h"

namespace tandem {
namespace {

struct Scatter {
  explicit Scatter(const Attrs& attrs)
      : kind(ScatterKindOf(attrs.op())), dtype(attrs.GetType(attrs.Has("T") ? "T" : "dtype")), use_locking(attrs.Has("use_locking") && attrs.GetBool("use_locking")) {}

  Status Run(KernelContext& ctx) const {
    VariableUpdate update;
    RETURN_IF_ERROR(update.Open(ctx, {0}, dtype, use_locking, absl::StatusCode::kNotFound));
    Tensor& params = update.value(0);
    const Tensor &indices = ctx.input(1), &updates = ctx.input(2);
    RETURN_IF_ERROR(CheckShapes(params.shape(), indices.shape(), updates.shape()));

    const int64_t rows = params.shape().dim(0);
    const int64_t width = rows == 0 ? 0 : params.num_elements() / rows;
    const ScatterRows combiner(kind, params, updates, width);
    RETURN_IF_ERROR(combiner.status());
    bool is_divided_by_zero = false;
    const int64_t bad = ForEachIndex(indices, rows, [&](int64_t i, int64_t row) { is_divided_by_zero |= !combiner.Combine(row * width, i); });
    if (bad >= 0) return IndexOutOfRange(indices, bad, rows);
    if (is_divided_by_zero) return ScatterRows::DivisionByZero();
    if (ctx.num_outputs() > 0) ctx.set_ref_output(0, update.variable(0));
    return OkStatus();
  }

  static Status CheckShapes(const Shape& params, const Shape& indices, const Shape& updates) {
    if (params.rank() == 0) return InvalidArgument("params must be at least 1-D, got shape []");
    if (updates.is_scalar()) return OkStatus();
    Shape wanted = indices;
    for (int d = 1; d < params.rank(); ++d) wanted.AddDim(params.dim(d));
    if (updates == wanted) return OkStatus();
    return InvalidArgument("Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got updates.shape ", updates.ToString(),
                           ", indices.shape ", indices.ToString(), ", params.shape ", params.ToString());
  }

  const ScatterKind kind;
  const DataType dtype;
  const bool use_locking;
};

#define DEFINE_SCATTER(Name, types, locking)                                   \
  DEFINE_OP("Scatter" Name)                                                    \
      .Input("ref: Ref(T)")                                                    \
      .Input("indices: Tindices")                                              \
      .Input("updates: T")                                                     \
      .Output("output_ref: Ref(T)")                                            \
      .Attr("T: " types)                                                       \
      .Attr("Tindices: IDX")                                                   \
      .Attr("use_locking: bool = " locking)                                    \
      .Shape(SameAsInput0)                                                     \
      .Cpu(AnyType<Scatter>())                                                 \
      .NoGradient()

DEFINE_SCATTER("Update", "type", "true");
DEFINE_SCATTER("Add", "NUM", "false");
DEFINE_SCATTER("Sub", "NUM", "false");
DEFINE_SCATTER("Mul", "NUM", "false");
DEFINE_SCATTER("Div", "NUM", "false");
DEFINE_SCATTER("Min", "{half, bfloat16, float, double, int32, int64}", "false");
DEFINE_SCATTER("Max", "{half, bfloat16, float, double, int32, int64}", "false");

#define DEFINE_RESOURCE_SCATTER(Name, types) \
  DEFINE_OP("ResourceScatter" Name)          \
      .Input("resource: resource")           \
      .Input("indices: Tindices")            \
      .Input("updates: dtype")               \
      .Attr("dtype: " types)                 \
      .Attr("Tindices: IDX")                 \
      .Stateful()                            \
      .Shape(NoOutputs)                      \
      .Cpu(AnyType<Scatter>())               \
      .NoGradient()

DEFINE_RESOURCE_SCATTER("Update", "type");
DEFINE_RESOURCE_SCATTER("Add", "NUM");
DEFINE_RESOURCE_SCATTER("Sub", "NUM");
DEFINE_RESOURCE_SCATTER("Mul", "NUM");
DEFINE_RESOURCE_SCATTER("Div", "NUM");
DEFINE_RESOURCE_SCATTER("Min", "NUM");
DEFINE_RESOURCE_SCATTER("Max", "NUM");

}  // namespace
}  // namespace tandem
