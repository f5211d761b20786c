// MatMul: the product of two matrices.
#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/math/gemm.h"
#include "ops/math/gradients.h"

namespace tandem {
namespace {

struct MatMul {
  explicit MatMul(const Attrs& attrs) : type(attrs.GetType("T")), transpose_a(attrs.GetBool("transpose_a")), transpose_b(attrs.GetBool("transpose_b")) {}

  Status Run(KernelContext& ctx) const {
    const Tensor& a = ctx.input(0);
    const Tensor& b = ctx.input(1);
    if (a.shape().rank() != 2) return InvalidArgument("In[0] is not a matrix. Instead it has shape ", a.shape().ToString());
    if (b.shape().rank() != 2) return InvalidArgument("In[1] is not a matrix. Instead it has shape ", b.shape().ToString());
    GemmShape shape{.m = a.shape().dim(transpose_a ? 1 : 0),
                    .n = b.shape().dim(transpose_b ? 0 : 1),
                    .k = a.shape().dim(transpose_a ? 0 : 1),
                    .transpose_a = transpose_a,
                    .transpose_b = transpose_b};
    if (b.shape().dim(transpose_b ? 1 : 0) != shape.k) {
      return InvalidArgument("Matrix size-incompatible: In[0]: ", a.shape().ToString(), ", In[1]: ", b.shape().ToString());
    }
    ASSIGN_OR_RETURN(Shape product, Shape::Checked({shape.m, shape.n}));
    ASSIGN_OR_RETURN(Tensor * c, ctx.Allocate(0, product));
    return Gemm(type, shape, a.raw_data(), b.raw_data(), c->mutable_raw_data());
  }

  DataType type;
  bool transpose_a, transpose_b;
};

// c = op(a) op(b): da = dc op(b)ᵀ, db = op(a)ᵀ dc, transposed again if the operand was.
Status MatMulGradient(GradientScope& g) {
  const bool transpose_a = g.attrs().GetBool("transpose_a"), transpose_b = g.attrs().GetBool("transpose_b");
  const Output a = Conjugate(g, g.input(0)), b = Conjugate(g, g.input(1)), dc = g.grad(0);
  const auto multiply = [&](const Output& x, const Output& y, bool transpose_x, bool transpose_y) {
    return g.Op("MatMul", {x, y}, {{"transpose_a", transpose_x}, {"transpose_b", transpose_y}});
  };
  const Output da = transpose_a ? multiply(b, dc, transpose_b, true) : multiply(dc, b, false, !transpose_b);
  const Output db = transpose_b ? multiply(dc, a, true, transpose_a) : multiply(a, dc, !transpose_a, false);
  return g.Return({da, db});
}

DEFINE_OP("MatMul")
    .Input("a: T")
    .Input("b: T")
    .Output("product: T")
    .Attr("transpose_a: bool = false")
    .Attr("transpose_b: bool = false")
    .Attr("T: {float, double, int32, uint8, complex64, int64, bfloat16, uint16, complex128, half, uint32, uint64}")
    .Attr("grad_a: bool = false")
    .Attr("grad_b: bool = false")
    .Shape(MatMulShape)
    .Cpu(AnyType<MatMul>())
    .Gradient(MatMulGradient);

}  // namespace
}  // namespace tandem
