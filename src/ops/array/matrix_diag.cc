// MatrixDiag, MatrixDiagPart, MatrixSetDiag: some diagonals of matrices, packed into the rows of another tensor.
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

// Diagonals lower … upper of matrices of that size. Diagonal d holds elements (r, r + d).
struct Band {
  int64_t rows = 0, columns = 0;
  int64_t lower = 0, upper = 0;

  int64_t count() const { return upper - lower + 1; }
  int64_t Length(int64_t d) const { return std::min(rows + std::min<int64_t>(d, 0), columns - std::max<int64_t>(d, 0)); }
  int64_t max_length() const { return std::min(rows + std::min<int64_t>(upper, 0), columns - std::max<int64_t>(lower, 0)); }
};

// "RIGHT_LEFT": superdiagonals end at the right of their row, subdiagonals begin at its left.
struct Alignment {
  explicit Alignment(const std::string& align)
      : is_super_right(align == "RIGHT_LEFT" || align == "RIGHT_RIGHT"), is_sub_right(align == "LEFT_RIGHT" || align == "RIGHT_RIGHT") {}
  bool is_super_right, is_sub_right;
};

struct BandCopy {
  Band band;
  int64_t matrices;
  Alignment alignment;

  // Between `matrix` [matrices, rows, columns] and `packed` [matrices, diagonals, max_length], the uppermost diagonal first.
  void Run(bool is_to_packed, const Tensor& from, Tensor* to) const {
    int64_t longest = band.max_length();
    if (matrices == 0 || longest == 0) return;
    for (int64_t d = band.upper; d >= band.lower; --d) {
      int64_t length = band.Length(d);
      bool is_right = (alignment.is_super_right && d >= 0) || (alignment.is_sub_right && d <= 0);
      int64_t packed = (band.upper - d) * longest + (is_right ? longest - length : 0);
      int64_t matrix = d >= 0 ? d : -d * band.columns;
      int64_t sizes[] = {matrices, length};
      int64_t packed_strides[] = {band.count() * longest, 1}, matrix_strides[] = {band.rows * band.columns, band.columns + 1};
      if (is_to_packed) {
        StridedCopy(sizes, from, matrix, matrix_strides, to, packed, packed_strides);
      } else {
        StridedCopy(sizes, from, packed, packed_strides, to, matrix, matrix_strides);
      }
    }
  }
};

// Input `k` of the V3 ops: one diagonal, or the lowest and the highest.
Status ReadDiagonals(const Tensor& k, Band* band) {
  if (k.shape().rank() > 1) return InvalidArgument("diag_index must be a scalar or vector, received shape: ", k.shape().ToString());
  ASSIGN_OR_RETURN(Integers values, ReadIntegers(k));
  if (values.empty() || values.size() > 2) return InvalidArgument("diag_index must have only one or two elements, received ", values.size(), " elements.");
  band->lower = values.front();
  band->upper = values.back();
  if (band->lower > band->upper) return InvalidArgument("lower_diag_index must not be larger than upper_diag_index: ", band->lower, " > ", band->upper);
  return OkStatus();
}

Status CheckInside(const Band& band) {
  for (int64_t d : {band.lower, band.upper}) {
    if ((-band.rows < d && d < band.columns) || d == 0) continue;
    return InvalidArgument(d == band.lower ? "lower" : "upper", "_diag_index is out of bound: ", d, ". It must be between ", -band.rows, " and ", band.columns);
  }
  return OkStatus();
}

Alignment AlignmentOf(const Attrs& attrs) { return Alignment(attrs.Has("align") ? attrs.GetString("align") : "RIGHT_LEFT"); }

void FillWith(const Tensor* value, Tensor* output) {
  if (value == nullptr) return SetToZero(output);
  int64_t count = output->num_elements();
  StridedCopy({count}, *value, 0, {0}, output, 0, {1});
}

StatusOr<const Tensor*> PaddingValue(const KernelContext& ctx, int i) {
  if (i >= ctx.num_inputs()) return nullptr;
  if (ctx.input(i).num_elements() < 1) return InvalidArgument("padding_value must be a scalar, received shape: ", ctx.input(i).shape().ToString());
  return &ctx.input(i);
}

int64_t BatchSize(const Shape& shape, int inner_dims) {
  int64_t batch = 1;
  for (int i = 0; i < shape.rank() - inner_dims; ++i) batch *= shape.dim(i);
  return batch;
}

struct MatrixDiagPart {
  explicit MatrixDiagPart(const Attrs& attrs) : alignment(AlignmentOf(attrs)) {}

  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    int rank = input.shape().rank();
    if (rank < 2) return InvalidArgument("input must be at least 2-dim, received shape: ", input.shape().ToString());
    Band band{input.shape().dim(rank - 2), input.shape().dim(rank - 1)};
    if (ctx.num_inputs() > 1) {
      RETURN_IF_ERROR(ReadDiagonals(ctx.input(1), &band));
      RETURN_IF_ERROR(CheckInside(band));
    }
    ASSIGN_OR_RETURN(const Tensor* padding, PaddingValue(ctx, 2));
    Shape shape(input.shape().dims().subspan(0, rank - 2));
    if (band.count() > 1) shape.AddDim(band.count());
    shape.AddDim(band.max_length());
    ASSIGN_OR_RETURN(shape, Shape::Checked(shape.dims()));
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    FillWith(padding, output);
    int64_t matrices = BatchSize(input.shape(), 2);
    BandCopy{band, matrices, alignment}.Run(/*is_to_packed=*/true, input, output);
    return OkStatus();
  }

  Alignment alignment;
};

Status MatrixDiagPartShape(ShapeContext& ctx) {
  const PartialShape& input = ctx.input(0);
  if (!input.has_rank()) return OkStatus();
  int rank = input.rank();
  if (rank < 2) return InvalidArgument("input must be at least 2-dim, received shape: ", input.ToString());
  Band band{input.dim(rank - 2), input.dim(rank - 1)};
  if (ctx.num_inputs() > 1) {
    if (ctx.constant(1) == nullptr) return OkStatus();
    RETURN_IF_ERROR(ReadDiagonals(*ctx.constant(1), &band));
  }
  std::vector<int64_t> sizes(input.dims().begin(), input.dims().end() - 2);
  if (band.count() > 1) sizes.push_back(band.count());
  bool is_known = band.rows != kUnknownSize && band.columns != kUnknownSize;
  if (is_known && ctx.num_inputs() > 1) RETURN_IF_ERROR(CheckInside(band));
  sizes.push_back(is_known ? band.max_length() : kUnknownSize);
  ctx.set_output(0, PartialShape(sizes));
  return OkStatus();
}

struct MatrixDiag {
  explicit MatrixDiag(const Attrs& attrs) : alignment(AlignmentOf(attrs)) {}

  Status Run(KernelContext& ctx) const {
    const Tensor& diagonal = ctx.input(0);
    int rank = diagonal.shape().rank();
    if (rank < 1) return InvalidArgument("diagonal must be at least 1-dim, received shape: ", diagonal.shape().ToString());
    Band band;
    int64_t wanted_rows = -1, wanted_columns = -1;
    if (ctx.num_inputs() > 1) {
      RETURN_IF_ERROR(ReadDiagonals(ctx.input(1), &band));
      ASSIGN_OR_RETURN(wanted_rows, ReadScalar(ctx.input(2), "num_rows"));
      ASSIGN_OR_RETURN(wanted_columns, ReadScalar(ctx.input(3), "num_cols"));
    }
    int packed_dims = band.count() > 1 ? 2 : 1;
    if (packed_dims == 2 && (rank < 2 || diagonal.shape().dim(rank - 2) != band.count())) {
      return InvalidArgument("The number of diagonals provided in the input does not match the lower_diag_index and upper_diag_index range.");
    }
    int64_t longest = diagonal.shape().dim(rank - 1);
    int64_t least_rows = longest - std::min<int64_t>(band.upper, 0), least_columns = longest + std::max<int64_t>(band.lower, 0);
    if (wanted_rows != -1 && wanted_rows < least_rows) return InvalidArgument("The number of rows is too small.");
    if (wanted_columns != -1 && wanted_columns < least_columns) return InvalidArgument("The number of columns is too small.");
    bool is_square = wanted_rows == -1 && wanted_columns == -1;
    band.rows = is_square ? std::max(least_rows, least_columns) : wanted_rows == -1 ? least_rows : wanted_rows;
    band.columns = is_square ? band.rows : wanted_columns == -1 ? least_columns : wanted_columns;
    if (!is_square && band.rows != least_rows && band.columns != least_columns) {
      return InvalidArgument("The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal.");
    }
    RETURN_IF_ERROR(CheckInside(band));
    if (band.max_length() != longest) return InvalidArgument("diagonals of ", longest, " elements do not fit a matrix of ", band.rows, " x ", band.columns);
    ASSIGN_OR_RETURN(const Tensor* padding, PaddingValue(ctx, 4));
    Shape shape(diagonal.shape().dims().subspan(0, rank - packed_dims));
    shape.AddDim(band.rows);
    shape.AddDim(band.columns);
    ASSIGN_OR_RETURN(shape, Shape::Checked(shape.dims()));
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    FillWith(padding, output);
    int64_t matrices = BatchSize(shape, 2);
    BandCopy{band, matrices, alignment}.Run(/*is_to_packed=*/false, diagonal, output);
    return OkStatus();
  }

  Alignment alignment;
};

Status MatrixDiagShape(ShapeContext& ctx) {
  const PartialShape& diagonal = ctx.input(0);
  if (!diagonal.has_rank()) return OkStatus();
  if (diagonal.rank() < 1) return InvalidArgument("diagonal must be at least 1-dim, received shape: ", diagonal.ToString());
  Band band;
  int64_t rows = kUnknownSize, columns = kUnknownSize;
  if (ctx.num_inputs() > 1) {
    if (ctx.constant(1) == nullptr) return OkStatus();
    RETURN_IF_ERROR(ReadDiagonals(*ctx.constant(1), &band));
    if (!ConstantScalar(ctx, 2, &rows) || rows < 0) rows = kUnknownSize;
    if (!ConstantScalar(ctx, 3, &columns) || columns < 0) columns = kUnknownSize;
  } else {
    rows = columns = diagonal.dim(diagonal.rank() - 1);
  }
  int packed_dims = band.count() > 1 ? 2 : 1;
  if (diagonal.rank() < packed_dims) return InvalidArgument("diagonal must be at least ", packed_dims, "-dim, received shape: ", diagonal.ToString());
  std::vector<int64_t> sizes(diagonal.dims().begin(), diagonal.dims().end() - packed_dims);
  sizes.push_back(rows);
  sizes.push_back(columns);
  ctx.set_output(0, PartialShape(sizes));
  return OkStatus();
}

struct MatrixSetDiag {
  explicit MatrixSetDiag(const Attrs& attrs) : alignment(AlignmentOf(attrs)) {}

  Status Run(KernelContext& ctx) const {
    const Tensor& diagonal = ctx.input(1);
    const Shape shape = ctx.input(0).shape();
    int rank = shape.rank();
    if (rank < 2) return InvalidArgument("input must be at least 2-dim, received shape: ", shape.ToString());
    if (diagonal.shape().rank() < 1) return InvalidArgument("diagonal must be at least 1-dim, received shape: ", diagonal.shape().ToString());
    Band band{shape.dim(rank - 2), shape.dim(rank - 1)};
    RETURN_IF_ERROR(ReadDiagonals(ctx.input(2), &band));
    RETURN_IF_ERROR(CheckInside(band));
    Shape expected(shape.dims().subspan(0, rank - 2));
    if (band.count() > 1) expected.AddDim(band.count());
    expected.AddDim(band.max_length());
    if (diagonal.shape() != expected) {
      return InvalidArgument("Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not equal to the longests "
                             "diagonal in range [", band.lower, ":", band.upper, "].\nInput shape: ", shape.ToString(),
                             "\nDiagonal shape: ", diagonal.shape().ToString(),
                             "\nExpected diagonal shape: ", expected.ToString());
    }
    Tensor output = ctx.TakeInput(0);
    if (!output.is_unique()) output = output.Clone();
    int64_t matrices = BatchSize(shape, 2);
    BandCopy{band, matrices, alignment}.Run(/*is_to_packed=*/false, diagonal, &output);
    ctx.set_output(0, std::move(output));
    return OkStatus();
  }

  Alignment alignment;
};

Status MatrixDiagGradient(GradientScope& g) { return g.Return({g.Op("MatrixDiagPart", {g.grad(0)})}); }

Status MatrixDiagPartGradient(GradientScope& g) {
  return g.Return({g.Op("MatrixSetDiagV3", {g.Op("ZerosLike", {g.input(0)}), g.grad(0), g.Scalar(0, kInt32)})});
}

Status MatrixDiagV3Gradient(GradientScope& g) {
  Output diagonal = g.Op("MatrixDiagPartV3", {g.grad(0), g.input(1), g.Scalar(0, g.grad(0))}, {{"align", g.attrs().GetString("align")}});
  return g.Return({diagonal, Output(), Output(), Output(), Output()});
}

Status MatrixDiagPartV3Gradient(GradientScope& g) {
  Output matrix = g.Op("MatrixSetDiagV3", {g.Op("ZerosLike", {g.input(0)}), g.grad(0), g.input(1)}, {{"align", g.attrs().GetString("align")}});
  return g.Return({matrix, Output(), Output()});
}

Status MatrixSetDiagV3Gradient(GradientScope& g) {
  std::vector<NamedAttr> align = {{"align", g.attrs().GetString("align")}};
  Output rest = g.Op("MatrixSetDiagV3", {g.grad(0), g.Op("ZerosLike", {g.input(1)}), g.input(2)}, align);
  return g.Return({rest, g.Op("MatrixDiagPartV3", {g.grad(0), g.input(2), g.Scalar(0, g.grad(0))}, align), Output()});
}

DEFINE_OP("MatrixDiag")
    .Input("diagonal: T")
    .Output("output: T")
    .Attr("T: type")
    .Shape(MatrixDiagShape)
    .Cpu(AnyType<MatrixDiag>())
    .Gradient(MatrixDiagGradient);

DEFINE_OP("MatrixDiagPart")
    .Input("input: T")
    .Output("diagonal: T")
    .Attr("T: type")
    .Shape(MatrixDiagPartShape)
    .Cpu(AnyType<MatrixDiagPart>())
    .Gradient(MatrixDiagPartGradient);

DEFINE_OP("MatrixDiagV3")
    .Input("diagonal: T")
    .Input("k: int32")
    .Input("num_rows: int32")
    .Input("num_cols: int32")
    .Input("padding_value: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'")
    .Shape(MatrixDiagShape)
    .Cpu(AnyType<MatrixDiag>())
    .Gradient(MatrixDiagV3Gradient);

DEFINE_OP("MatrixDiagPartV3")
    .Input("input: T")
    .Input("k: int32")
    .Input("padding_value: T")
    .Output("diagonal: T")
    .Attr("T: type")
    .Attr("align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'")
    .Shape(MatrixDiagPartShape)
    .Cpu(AnyType<MatrixDiagPart>())
    .Gradient(MatrixDiagPartV3Gradient);

DEFINE_OP("MatrixSetDiagV3")
    .Input("input: T")
    .Input("diagonal: T")
    .Input("k: int32")
    .Output("output: T")
    .Attr("T: type")
    .Attr("align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'")
    .Shape(SameAsInput0)
    .Cpu(AnyType<MatrixSetDiag>())
    .Gradient(MatrixSetDiagV3Gradient);

}  // namespace
}  // namespace tandem
