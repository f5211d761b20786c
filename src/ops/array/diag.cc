// Diag, DiagPart and MatrixBandPart: the diagonal of a tensor, and what is near that of a matrix.
#include <algorithm>
#include <string>
#include <vector>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"
#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

struct Diag {
  Status Run(KernelContext& ctx) const {
    const Tensor& diagonal = ctx.input(0);
    if (diagonal.shape().rank() < 1) return InvalidArgument("Input must be at least rank 1, got 0");
    Shape shape = diagonal.shape();
    for (int64_t size : diagonal.shape().dims()) shape.AddDim(size);
    ASSIGN_OR_RETURN(shape, Shape::Checked(shape.dims()));
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    SetToZero(output);
    int64_t count = diagonal.num_elements();
    StridedCopy({count}, diagonal, 0, {1}, output, 0, {count + 1});
    return OkStatus();
  }
};

Status DiagShape(ShapeContext& ctx) {
  const PartialShape& diagonal = ctx.input(0);
  if (!diagonal.has_rank()) return OkStatus();
  if (diagonal.rank() < 1) return InvalidArgument("Input must be at least rank 1, got 0");
  std::vector<int64_t> sizes(diagonal.dims().begin(), diagonal.dims().end());
  sizes.insert(sizes.end(), diagonal.dims().begin(), diagonal.dims().end());
  if (sizes.size() > kMaxRank) return InvalidArgument("a tensor cannot have ", sizes.size(), " dimensions");
  ctx.set_output(0, PartialShape(sizes));
  return OkStatus();
}

Status DiagGradient(GradientScope& g) { return g.Return({g.Op("DiagPart", {g.grad(0)})}); }

struct DiagPart {
  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    const Shape& shape = input.shape();
    if (shape.rank() < 2 || shape.rank() % 2 != 0) return InvalidArgument("The rank of the tensor should be even and positive, got shape ", shape.ToString());
    Shape diagonal;
    for (int i = 0; i < shape.rank() / 2; ++i) {
      if (shape.dim(i) != shape.dim(i + shape.rank() / 2)) {
        return InvalidArgument("Invalid shape ", shape.ToString(), ": dimensions ", i, " and ", i + shape.rank() / 2, " do not match.");
      }
      diagonal.AddDim(shape.dim(i));
    }
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, diagonal));
    int64_t count = diagonal.num_elements();
    StridedCopy({count}, input, 0, {count + 1}, output, 0, {1});
    return OkStatus();
  }
};

Status DiagPartShape(ShapeContext& ctx) {
  const PartialShape& input = ctx.input(0);
  if (!input.has_rank()) return OkStatus();
  int half = input.rank() / 2;
  if (input.rank() < 2 || input.rank() % 2 != 0) return InvalidArgument("Input must have even and non-zero rank, input rank is ", input.rank());
  ASSIGN_OR_RETURN(PartialShape diagonal, PartialShape::Merge(PartialShape(input.dims().subspan(0, half)), PartialShape(input.dims().subspan(half))));
  ctx.set_output(0, diagonal);
  return OkStatus();
}

Status DiagPartGradient(GradientScope& g) { return g.Return({g.Op("Diag", {g.grad(0)})}); }

struct MatrixBandPart {
  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    const Shape& shape = input.shape();
    if (shape.rank() < 2) return InvalidArgument("input must be at least 2-dim, received shape: ", shape.ToString());
    int64_t rows = shape.dim(shape.rank() - 2), columns = shape.dim(shape.rank() - 1), limits[2];
    for (int i : {0, 1}) {
      absl::string_view name = i == 0 ? "num_lower" : "num_upper";
      if (!ctx.input(i + 1).shape().is_scalar()) return InvalidArgument(name, " must be scalar, got shape ", ctx.input(i + 1).shape().ToString());
      ASSIGN_OR_RETURN(limits[i], ReadScalar(ctx.input(i + 1), name));
      int64_t size = i == 0 ? rows : columns;
      if (limits[i] > size) {
        return InvalidArgument(name, " must be negative or less or equal to number of ", i == 0 ? "rows" : "columns", " (", size, ") got: ", limits[i]);
      }
      if (limits[i] < 0) limits[i] = size;
    }
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    SetToZero(output);
    int64_t matrices = input.num_elements() == 0 ? 0 : input.num_elements() / (rows * columns);
    return WithElement(input.dtype(), [&]<typename E>() {
      const E* from = ElementsOf<E>(input);
      E* to = MutableElementsOf<E>(output);
      for (int64_t m = 0; m < matrices; ++m) {
        for (int64_t row = 0; row < rows; ++row, from += columns, to += columns) {
          int64_t begin = std::max<int64_t>(row - limits[0], 0), end = std::min(row + limits[1] + 1, columns);
          if (begin < end) CopyElements(from + begin, end - begin, to + begin);
        }
      }
      return OkStatus();
    });
  }
};

Status BandPartGradient(GradientScope& g) {
  return g.Return({g.Op("MatrixBandPart", {g.grad(0), g.input(1), g.input(2)}), Output(), Output()});
}

DEFINE_OP("Diag")
    .Input("diagonal: T")
    .Output("output: T")
    .Attr("T: FC + {int32, int64}")
    .Shape(DiagShape)
    .Cpu(AnyType<Diag>())
    .Gradient(DiagGradient);

DEFINE_OP("DiagPart")
    .Input("input: T")
    .Output("diagonal: T")
    .Attr("T: FC + {int32, int64}")
    .Shape(DiagPartShape)
    .Cpu(AnyType<DiagPart>())
    .Gradient(DiagPartGradient);

DEFINE_OP("MatrixBandPart")
    .Input("input: T")
    .Input("num_lower: Tindex")
    .Input("num_upper: Tindex")
    .Output("band: T")
    .Attr("T: type")
    .Attr("Tindex: IDX = int64")
    .Shape(SameAsInput0)
    .Cpu(AnyType<MatrixBandPart>())
    .Gradient(BandPartGradient);

}  // namespace
}  // namespace tandem
