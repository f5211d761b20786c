// BatchMatMul (equal batch dimensions), BatchMatMulV2 (broadcast ones) and V3 (a result type of its own).
#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/math/broadcast.h"
#include "ops/math/cast.h"
#include "ops/math/gemm.h"
#include "ops/math/gradients.h"

namespace tandem {
namespace {

Shape BatchOf(const Tensor& x) { return Shape(x.shape().dims().first(x.shape().rank() - 2)); }

struct BatchMatMul {
  explicit BatchMatMul(const Attrs& attrs) : adj_x(attrs.GetBool("adj_x")), adj_y(attrs.GetBool("adj_y")), broadcasts(attrs.op() != "BatchMatMul") {}

  Status Run(KernelContext& ctx) const {
    const DataType type = ctx.output_type(0);
    ASSIGN_OR_RETURN(Tensor x, As(type, ctx.input(0)));
    ASSIGN_OR_RETURN(Tensor y, As(type, ctx.input(1)));
    RETURN_IF_ERROR(CheckRanks(x, y));
    const int x_rank = x.shape().rank(), y_rank = y.shape().rank();
    GemmShape product{.m = x.shape().dim(x_rank - (adj_x ? 1 : 2)),
                      .n = y.shape().dim(y_rank - (adj_y ? 2 : 1)),
                      .k = x.shape().dim(x_rank - (adj_x ? 2 : 1)),
                      .transpose_a = adj_x,
                      .transpose_b = adj_y,
                      .conjugate_a = adj_x,
                      .conjugate_b = adj_y};
    if (y.shape().dim(y_rank - (adj_y ? 1 : 2)) != product.k) {
      return InvalidArgument("Matrix size-incompatible: In[0]: ", x.shape().ToString(), ", In[1]: ", y.shape().ToString());
    }
    const Shape x_batch = BatchOf(x), y_batch = BatchOf(y);
    StatusOr<BroadcastPlan> plan = PlanBroadcast({&x_batch, &y_batch});
    if (!plan.ok()) {
      return InvalidArgument("In[0] and In[1] must have compatible batch dimensions: ", x.shape().ToString(), " vs. ", y.shape().ToString());
    }
    Shape shape = plan->output;
    shape.AddDim(product.m);
    shape.AddDim(product.n);
    ASSIGN_OR_RETURN(shape, Shape::Checked(shape.dims()));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, shape));
    return MultiplyAll(type, *plan, product, x, y, out);
  }

  Status CheckRanks(const Tensor& x, const Tensor& y) const {
    const int x_rank = x.shape().rank(), y_rank = y.shape().rank();
    if (!broadcasts && x_rank != y_rank) {
      return InvalidArgument("In[0] and In[1] has different ndims: ", x.shape().ToString(), " vs. ", y.shape().ToString());
    }
    if (x_rank < 2) return InvalidArgument("In[0] ndims must be >= 2: ", x_rank);
    if (y_rank < 2) return InvalidArgument("In[1] ndims must be >= 2: ", y_rank);
    for (int i = 0; i < x_rank - 2 && !broadcasts; ++i) {
      if (x.shape().dim(i) != y.shape().dim(i)) {
        return InvalidArgument("In[0].dim(", i, ") and In[1].dim(", i, ") must be the same: ", x.shape().ToString(), " vs ", y.shape().ToString());
      }
    }
    return OkStatus();
  }

  static StatusOr<Tensor> As(DataType type, const Tensor& x) {
    if (x.dtype() == type) return x;
    ASSIGN_OR_RETURN(Tensor made, Tensor::Allocate(type, x.shape()));
    CastElements(x.dtype(), x.raw_data(), type, made.mutable_raw_data(), x.num_elements());
    return made;
  }

  static Status MultiplyAll(DataType type, const BroadcastPlan& plan, const GemmShape& product, const Tensor& x, const Tensor& y, Tensor* out) {
    const int64_t size = static_cast<int64_t>(DataTypeSize(type));
    const int inner = plan.rank() - 1;
    Status status;
    ForEachBlock(plan, [&](const std::array<int64_t, kMaxBroadcastOperands>& offsets, int64_t output) {
      for (int64_t i = 0; i < plan.sizes[inner - 1] * plan.sizes[inner] && status.ok(); ++i) {
        const int64_t row = i / plan.sizes[inner], column = i % plan.sizes[inner];
        const auto matrix = [&](int operand) { return offsets[operand] + row * plan.strides[operand][inner - 1] + column * plan.strides[operand][inner]; };
        status = Gemm(type, product, static_cast<const char*>(x.raw_data()) + matrix(0) * product.m * product.k * size,
                      static_cast<const char*>(y.raw_data()) + matrix(1) * product.k * product.n * size,
                      static_cast<char*>(out->mutable_raw_data()) + (output + i) * product.m * product.n * size);
      }
    });
    return status;
  }

  bool adj_x, adj_y, broadcasts;
};

Status BatchMatMulShape(ShapeContext& ctx) {
  const PartialShape& x = ctx.input(0);
  const PartialShape& y = ctx.input(1);
  if (!x.has_rank() || !y.has_rank()) return OkStatus();
  for (const PartialShape* shape : {&x, &y}) {
    if (shape->rank() < 2) return InvalidArgument("Shape must be at least rank 2 but is rank ", shape->rank(), " for shape ", shape->ToString());
  }
  const bool adj_x = ctx.attrs().GetBool("adj_x"), adj_y = ctx.attrs().GetBool("adj_y");
  const int64_t inner_x = x.dim(x.rank() - (adj_x ? 2 : 1)), inner_y = y.dim(y.rank() - (adj_y ? 1 : 2));
  if (inner_x != kUnknownSize && inner_y != kUnknownSize && inner_x != inner_y) {
    return InvalidArgument("Dimensions must be equal, but are ", inner_x, " and ", inner_y, " for matrices ", x.ToString(), " and ", y.ToString());
  }
  ASSIGN_OR_RETURN(PartialShape out, BroadcastShapes(PartialShape(x.dims().first(x.rank() - 2)), PartialShape(y.dims().first(y.rank() - 2))));
  if (!out.has_rank()) return OkStatus();
  out.AddDim(x.dim(x.rank() - (adj_x ? 1 : 2)));
  out.AddDim(y.dim(y.rank() - (adj_y ? 2 : 1)));
  ctx.set_output(0, out);
  return OkStatus();
}

// The gradient summed over the batch dimensions along which `operand` was stretched to reach the output's.
Output SumToBatch(GradientScope& g, const Output& gradient, const Output& operand) {
  if (g.attrs().op() == "BatchMatMul") return gradient;
  const PartialShape& own = operand.shape();
  const PartialShape& out = g.output(0).shape();
  if (own.has_rank() && out.has_rank() && own.rank() == out.rank()) {
    bool is_equal = true;
    for (int i = 0; i < own.rank() - 2; ++i) is_equal = is_equal && own.dim(i) != kUnknownSize && own.dim(i) == out.dim(i);
    if (is_equal) return gradient;
  }
  const auto vector = [&](int32_t value) { return g.Const(Tensor::Vector<int32_t>(std::vector<int32_t>{value})); };
  const Output shape = g.ShapeOf(operand);
  const auto batch = [&](const Output& whole) { return g.Op("StridedSlice", {whole, vector(0), vector(-2), vector(1)}, {{"begin_mask", 1}}); };
  const std::vector<Output> axes = g.OpList("BroadcastGradientArgs", {batch(shape), batch(g.ShapeOf(g.output(0)))});
  if (axes.size() != 2) return Output();
  return g.Op("Reshape", {g.Op("Sum", {gradient, axes[0]}), shape});
}

// As MatMul's, with adjoints.
Status BatchMatMulGradient(GradientScope& g) {
  const bool adj_x = g.attrs().GetBool("adj_x"), adj_y = g.attrs().GetBool("adj_y");
  const Output x = g.input(0), y = g.input(1), dz = g.grad(0);
  const std::string& op = g.attrs().op();
  const auto multiply = [&](const Output& a, const Output& b, bool adj_a, bool adj_b, DataType type) {
    std::vector<NamedAttr> attrs{{"adj_x", adj_a}, {"adj_y", adj_b}};
    if (op == "BatchMatMulV3") attrs.emplace_back("Tout", type);
    return g.Op(op, {a, b}, attrs);
  };
  const Output dx = adj_x ? multiply(y, dz, adj_y, true, x.dtype()) : multiply(dz, y, false, !adj_y, x.dtype());
  const Output dy = adj_y ? multiply(dz, x, true, adj_x, y.dtype()) : multiply(x, dz, !adj_x, false, y.dtype());
  return g.Return({SumToBatch(g, dx, x), SumToBatch(g, dy, y)});
}

OpBuilder BatchOp(const char* name) {
  return OpBuilder(name)
      .Attr("adj_x: bool = false")
      .Attr("adj_y: bool = false")
      .Attr("grad_x: bool = false")
      .Attr("grad_y: bool = false")
      .Shape(BatchMatMulShape)
      .Cpu(AnyType<BatchMatMul>())
      .Gradient(BatchMatMulGradient);
}
OpBuilder OneTypeOp(const char* name) { return BatchOp(name).Input("x: T").Input("y: T").Output("output: T"); }

const OpRegistrar kOps[] = {
    OneTypeOp("BatchMatMul").Attr("T: {float, double, int32, complex64, int64, bfloat16, complex128, half}"),
    OneTypeOp("BatchMatMulV2").Attr("T: {float, double, int32, uint8, int16, complex64, int64, bfloat16, uint16, complex128, half, uint32, uint64}"),
    BatchOp("BatchMatMulV3")
        .Input("x: Ta")
        .Input("y: Tb")
        .Output("output: Tout")
        .Attr("Ta: {float, double, int32, uint8, int16, int8, complex64, int64, bfloat16, complex128, half}")
        .Attr("Tb: {float, double, int32, uint8, int16, int8, complex64, int64, bfloat16, complex128, half}")
        .Attr("Tout: {float, double, int32, int16, complex64, int64, bfloat16, complex128, half}"),
};

}  // namespace
}  // namespace tandem
