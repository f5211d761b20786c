// Reshape, ExpandDims, Squeeze, EnsureShape: the same elements under another shape.
#include <algorithm>
#include <vector>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"

namespace tandem {
namespace {

Status SetReshaped(KernelContext& ctx, const Shape& shape) {
  Tensor value = ctx.TakeInput(0);
  value.set_shape(shape);
  ctx.set_output(0, std::move(value));
  return OkStatus();
}

// The gradient of any of these is the gradient in the input's shape.
Status ReshapeGradient(GradientScope& g) {
  std::vector<Output> gradients(g.num_inputs());
  gradients[0] = g.Op("Reshape", {g.grad(0), g.ShapeOf(g.input(0))});
  return g.Return(gradients);
}

struct Reshape {
  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    const Tensor& sizes = ctx.input(1);
    if (sizes.shape().rank() != 1) {
      // TensorFlow lets an empty or one-element scalar through for the sake of old graphs.
      if (sizes.num_elements() != 1) return InvalidArgument("sizes input must be 1-D, not ", sizes.shape().ToString());
    }
    ASSIGN_OR_RETURN(Integers wanted, ReadIntegers(sizes));
    int unknown = -1;
    int64_t known = 1;  // the product of the sizes given, but for zeros
    bool has_zero = false;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i] == -1) {
        if (unknown >= 0) return InvalidArgument("Only one input size may be -1, not both ", unknown, " and ", i);
        unknown = static_cast<int>(i);
      } else if (wanted[i] < 0) {
        return InvalidArgument("Size ", i, " must be non-negative, not ", wanted[i]);
      } else if (wanted[i] == 0) {
        has_zero = true;
      } else if (__builtin_mul_overflow(known, wanted[i], &known)) {
        return InvalidArgument("shape ", Shape(wanted).ToString(), " has too many elements");
      }
    }
    int64_t count = input.num_elements();
    if (unknown >= 0) {
      // Zeros stand against zeros: [0,6] as [0,-1] is [0,6].
      int64_t to_share = 1;
      for (int64_t size : input.shape().dims()) to_share *= size == 0 && has_zero ? 1 : size;
      if (!has_zero && to_share % known != 0) {
        return InvalidArgument("Input to reshape is a tensor with ", count, " values, but the requested shape requires a multiple of ", known);
      }
      wanted[unknown] = to_share / known;
    }
    ASSIGN_OR_RETURN(Shape shape, Shape::Checked(wanted));
    if (shape.num_elements() != count) {
      return InvalidArgument("Input to reshape is a tensor with ", count, " values, but the requested shape has ", shape.num_elements());
    }
    return SetReshaped(ctx, shape);
  }
};

Status ReshapeShape(ShapeContext& ctx) {
  PartialShape wanted = ctx.ConstantAsShape(1);
  const PartialShape& input = ctx.input(0);
  if (!wanted.has_rank()) return OkStatus();
  int unknown = -1, unknown_count = 0;
  int64_t known = 1;
  for (int i = 0; i < wanted.rank(); ++i) {
    if (wanted.dim(i) == kUnknownSize) {
      unknown = i;
      ++unknown_count;
    } else if (__builtin_mul_overflow(known, wanted.dim(i), &known)) {
      return InvalidArgument("shape ", wanted.ToString(), " has too many elements");
    }
  }
  if (int64_t count = input.num_elements(); count != kUnknownSize && unknown_count == 0 && count != known) {
    return InvalidArgument("Cannot reshape a tensor with ", count, " elements to shape ", wanted.ToString(), " (", known, " elements)");
  } else if (count > 0 && unknown_count == 1 && known > 0 && ctx.constant(1) != nullptr) {
    if (count % known != 0) {
      return InvalidArgument("Cannot reshape a tensor with ", count, " elements to shape ", wanted.ToString(), ": not a multiple of ", known);
    }
    wanted.set_dim(unknown, count / known);
  }
  ctx.set_output(0, wanted);
  return OkStatus();
}

struct ExpandDims {
  Status Run(KernelContext& ctx) const {
    Shape shape = ctx.input(0).shape();
    ASSIGN_OR_RETURN(int64_t axis, ReadScalar(ctx.input(1), "'dim' input"));
    int rank = shape.rank();
    if (axis < -1 - rank || axis > rank) {
      return InvalidArgument("Tried to expand dim index ", axis, " for tensor with ", rank, " dimensions.");
    }
    if (rank == kMaxRank) return InvalidArgument("a tensor cannot have more than ", kMaxRank, " dimensions");
    shape.InsertDim(static_cast<int>(axis < 0 ? axis + rank + 1 : axis), 1);
    return SetReshaped(ctx, shape);
  }
};

Status ExpandDimsShape(ShapeContext& ctx) {
  const PartialShape& input = ctx.input(0);
  if (!input.has_rank()) return OkStatus();
  int64_t axis;
  int rank = input.rank();
  if (!ConstantScalar(ctx, 1, &axis)) {
    ctx.set_output(0, PartialShape::UnknownOfRank(rank + 1));
    return OkStatus();
  }
  if (axis < -1 - rank || axis > rank) return InvalidArgument("dim ", axis, " not in the interval [", -rank - 1, ", ", rank, "].");
  Integers sizes(input.dims().begin(), input.dims().end());
  sizes.insert(sizes.begin() + (axis < 0 ? axis + rank + 1 : axis), 1);
  ctx.set_output(0, PartialShape(sizes));
  return OkStatus();
}

struct Squeeze {
  explicit Squeeze(const Attrs& attrs) : axes(attrs.GetInts("squeeze_dims")) {}

  Status Run(KernelContext& ctx) const {
    const Shape& input = ctx.input(0).shape();
    absl::InlinedVector<bool, 8> is_dropped(input.rank(), false);
    for (int64_t axis : axes) {
      if (axis < -input.rank() || axis >= input.rank()) {
        return InvalidArgument("Tried to squeeze dim index ", axis, " for tensor with ", input.rank(), " dimensions.");
      }
      is_dropped[axis < 0 ? axis + input.rank() : axis] = true;
    }
    Shape shape;
    for (int i = 0; i < input.rank(); ++i) {
      if (is_dropped[i] && input.dim(i) != 1) return InvalidArgument("Can not squeeze dim[", i, "], expected a dimension of 1, got ", input.dim(i));
      if (is_dropped[i] || (axes.empty() && input.dim(i) == 1)) continue;
      shape.AddDim(input.dim(i));
    }
    return SetReshaped(ctx, shape);
  }

  std::vector<int64_t> axes;
};

Status SqueezeShape(ShapeContext& ctx) {
  const PartialShape& input = ctx.input(0);
  if (!input.has_rank()) return OkStatus();
  std::vector<int64_t> axes = ctx.attrs().GetInts("squeeze_dims");
  // Without axes an unknown size may or may not be dropped.
  if (axes.empty() && !input.is_fully_known()) return OkStatus();
  std::vector<bool> is_dropped(input.rank(), false);
  for (int64_t axis : axes) {
    if (axis < -input.rank() || axis >= input.rank()) {
      return InvalidArgument("squeeze_dims[", axis, "] not in [", -input.rank(), ",", input.rank(), ").");
    }
    is_dropped[axis < 0 ? axis + input.rank() : axis] = true;
  }
  Integers sizes;
  for (int i = 0; i < input.rank(); ++i) {
    if (is_dropped[i] && input.dim(i) > 1) return InvalidArgument("Can not squeeze dim[", i, "], expected a dimension of 1, got ", input.dim(i));
    if (is_dropped[i] || (axes.empty() && input.dim(i) == 1)) continue;
    sizes.push_back(input.dim(i));
  }
  ctx.set_output(0, PartialShape(sizes));
  return OkStatus();
}

struct EnsureShape {
  explicit EnsureShape(const Attrs& attrs) : expected(attrs.GetShape("shape")) {}

  Status Run(KernelContext& ctx) const {
    const Shape& shape = ctx.input(0).shape();
    if (!expected.Allows(shape)) {
      return InvalidArgument("Shape of tensor ", ctx.node_name(), " ", shape.ToString(), " is not compatible with expected shape ",
                             expected.ToString(), ".");
    }
    ctx.set_output(0, ctx.TakeInput(0));
    return OkStatus();
  }

  PartialShape expected;
};

Status EnsureShapeShape(ShapeContext& ctx) {
  ASSIGN_OR_RETURN(PartialShape both, PartialShape::Merge(ctx.input(0), ctx.attrs().GetShape("shape")));
  ctx.set_output(0, both);
  return OkStatus();
}

Status EnsureShapeGradient(GradientScope& g) { return g.Return({g.grad(0)}); }

DEFINE_OP("Reshape")
    .Input("tensor: T")
    .Input("shape: Tshape")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tshape: IDX = int32")
    .Shape(ReshapeShape)
    .Cpu(AnyType<Reshape>())
    .Gradient(ReshapeGradient);

DEFINE_OP("ExpandDims")
    .Input("input: T")
    .Input("dim: Tdim")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tdim: IDX = int32")
    .Shape(ExpandDimsShape)
    .Cpu(AnyType<ExpandDims>())
    .Gradient(ReshapeGradient);

DEFINE_OP("Squeeze")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("squeeze_dims: list(int) >= 0 = []")
    .Shape(SqueezeShape)
    .Cpu(AnyType<Squeeze>())
    .Gradient(ReshapeGradient);

DEFINE_OP("EnsureShape")
    .Input("input: T")
    .Output("output: T")
    .Attr("shape: shape")
    .Attr("T: type")
    .Shape(EnsureShapeShape)
    .Cpu(AnyType<EnsureShape>())
    .Gradient(EnsureShapeGradient);

}  // namespace
}  // namespace tandem
