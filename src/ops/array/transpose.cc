// Transpose, ConjugateTranspose and InvertPermutation.
#include <complex>

#include "absl/container/inlined_vector.h"
#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"
#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

using Permutation = absl::InlinedVector<int, 8>;

// The axes in `perm`, counted from the front, each exactly once.
StatusOr<Permutation> ReadPermutation(const Tensor& perm, int rank) {
  if (perm.shape().rank() != 1) return InvalidArgument("perm must be rank 1, got shape ", perm.shape().ToString());
  if (perm.num_elements() != rank) {
    return InvalidArgument("transpose expects a vector of size ", rank, ". But input(1) is a vector of size ", perm.num_elements());
  }
  ASSIGN_OR_RETURN(Integers axes, ReadIntegers(perm));
  Permutation permutation;
  absl::InlinedVector<bool, 8> is_used(rank, false);
  for (int64_t axis : axes) {
    if (axis < -rank || axis >= rank) return InvalidArgument(axis, " is out of range [0 .. ", rank, ")");
    permutation.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
    is_used[permutation.back()] = true;
  }
  for (int i = 0; i < rank; ++i) {
    if (!is_used[i]) return InvalidArgument(i, " is missing from {", Shape(axes).ToString(), "}.");
  }
  return permutation;
}

template <typename T>
void Conjugate(Tensor* tensor) {
  for (T& element : tensor->mutable_values<T>()) element = std::conj(element);
}

struct Transpose {
  explicit Transpose(const Attrs& attrs) : is_conjugated(attrs.op() == "ConjugateTranspose") {}

  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    ASSIGN_OR_RETURN(Permutation permutation, ReadPermutation(ctx.input(1), input.shape().rank()));
    Strides input_strides = RowMajorStrides(input.shape()), from;
    Shape shape;
    bool is_reshape = true;  // only dimensions of size 1 change places
    int last = -1;
    for (int axis : permutation) {
      shape.AddDim(input.shape().dim(axis));
      from.push_back(input_strides[axis]);
      if (input.shape().dim(axis) == 1) continue;
      is_reshape = is_reshape && axis > last;
      last = axis;
    }
    bool needs_conjugate = is_conjugated && IsComplex(input.dtype());
    if (is_reshape && !needs_conjugate) {
      Tensor value = ctx.TakeInput(0);
      value.set_shape(shape);
      ctx.set_output(0, std::move(value));
      return OkStatus();
    }
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    StridedCopy(shape.dims(), input, 0, from, output, 0, RowMajorStrides(shape));
    if (needs_conjugate && input.dtype() == kComplex64) Conjugate<std::complex<float>>(output);
    if (needs_conjugate && input.dtype() == kComplex128) Conjugate<std::complex<double>>(output);
    return OkStatus();
  }

  bool is_conjugated;
};

Status TransposeShape(ShapeContext& ctx) {
  const PartialShape& input = ctx.input(0);
  int rank = -1;
  if (input.has_rank()) rank = input.rank();
  if (rank < 0 && ctx.input(1).rank() == 1 && ctx.input(1).dim(0) <= kMaxRank) rank = static_cast<int>(ctx.input(1).dim(0));
  if (rank < 0) return OkStatus();
  PartialShape output = PartialShape::UnknownOfRank(rank);
  if (ctx.constant(1) != nullptr) {
    ASSIGN_OR_RETURN(Permutation permutation, ReadPermutation(*ctx.constant(1), rank));
    for (int i = 0; i < rank && input.has_rank(); ++i) output.set_dim(i, input.dim(permutation[i]));
  } else if (rank <= 1 && input.has_rank()) {
    output = input;
  }
  ctx.set_output(0, output);
  return OkStatus();
}

Status TransposeGradient(GradientScope& g) { return g.Return({g.Op("Transpose", {g.grad(0), g.Op("InvertPermutation", {g.input(1)})}), Output()}); }

Status ConjugateTransposeGradient(GradientScope& g) {
  return g.Return({g.Op("ConjugateTranspose", {g.grad(0), g.Op("InvertPermutation", {g.input(1)})}), Output()});
}

struct InvertPermutation {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    if (input.shape().rank() != 1) return InvalidArgument("invert_permutation expects a 1D vector.");
    int64_t count = input.num_elements();
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, input.shape()));
    const T* from = input.data<T>();
    T* to = output->mutable_data<T>();
    for (int64_t i = 0; i < count; ++i) to[i] = -1;
    for (int64_t i = 0; i < count; ++i) {
      T at = from[i];
      if (at < 0 || at >= count) return InvalidArgument(at, " is not between 0 and ", count);
      if (to[at] != -1) return InvalidArgument(at, " is duplicated in the input.");
      to[at] = static_cast<T>(i);
    }
    return OkStatus();
  }
};

DEFINE_OP("Transpose")
    .Input("x: T")
    .Input("perm: Tperm")
    .Output("y: T")
    .Attr("T: type")
    .Attr("Tperm: IDX = int32")
    .Shape(TransposeShape)
    .Cpu(AnyType<Transpose>())
    .Gradient(TransposeGradient);

DEFINE_OP("ConjugateTranspose")
    .Input("x: T")
    .Input("perm: Tperm")
    .Output("y: T")
    .Attr("T: type")
    .Attr("Tperm: IDX = int32")
    .Shape(TransposeShape)
    .Cpu(AnyType<Transpose>())
    .Gradient(ConjugateTransposeGradient);

DEFINE_OP("InvertPermutation")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: IDX = int32")
    .Shape(SameAsInput0)
    .Cpu(ForTypes<InvertPermutation, int32_t, int64_t>())
    .NoGradient();

}  // namespace
}  // namespace tandem
