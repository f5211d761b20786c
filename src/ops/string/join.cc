// StringJoin puts strings of several tensors together; ReduceJoin those of one tensor along some axes.
#include <string>
#include <vector>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"

namespace tandem {
namespace {

struct StringJoin {
  explicit StringJoin(const Attrs& attrs) : separator(attrs.GetString("separator")) {}

  Status Run(KernelContext& ctx) const {
    Shape shape;
    bool has_shape = false;
    for (int i = 0; i < ctx.num_inputs(); ++i) {
      const Shape& part = ctx.input(i).shape();
      if (part.is_scalar()) continue;
      if (has_shape && part != shape) return InvalidArgument("Input shapes do not match: ", shape.ToString(), " vs. ", part.ToString());
      shape = part;
      has_shape = true;
    }
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    absl::Span<std::string> to = output->mutable_values<std::string>();
    for (int i = 0; i < ctx.num_inputs(); ++i) {
      const std::string* from = ctx.input(i).data<std::string>();
      bool is_scalar = ctx.input(i).shape().is_scalar();
      for (size_t k = 0; k < to.size(); ++k) absl::StrAppend(&to[k], i > 0 ? separator : "", from[is_scalar ? 0 : k]);
    }
    return OkStatus();
  }

  std::string separator;
};

Status StringJoinShape(ShapeContext& ctx) {
  PartialShape shape = PartialShape::Scalar();
  bool has_unknown = false;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    const PartialShape& part = ctx.input(i);
    if (!part.has_rank()) {
      has_unknown = true;
    } else if (part.rank() > 0) {
      ASSIGN_OR_RETURN(shape, shape.rank() == 0 ? part : PartialShape::Merge(shape, part));
    }
  }
  // An input of unknown rank decides only if all others are scalars.
  ctx.set_output(0, has_unknown && shape.rank() == 0 ? PartialShape() : shape);
  return OkStatus();
}

// Elements are joined in the order in which the axes are named: the first one varies fastest.
struct ReduceJoin {
  explicit ReduceJoin(const Attrs& attrs) : keep_dims(attrs.GetBool("keep_dims")), separator(attrs.GetString("separator")) {}

  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    const Shape& shape = input.shape();
    int rank = shape.rank();
    std::vector<bool> is_reduced(rank, false);
    std::vector<int> axes;
    for (int32_t axis : ctx.input(1).values<int32_t>()) {
      if (axis < -rank || axis >= rank) return OutOfRange("Invalid reduction dimension ", axis, " for input with ", rank, " dimension(s)");
      int at = axis < 0 ? axis + rank : axis;
      if (is_reduced[at]) return InvalidArgument("Duplicate reduction dimension ", axis);
      is_reduced[at] = true;
      axes.insert(axes.begin(), at);
    }
    std::vector<int64_t> strides(rank);
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; --i) {
      strides[i] = stride;
      stride *= shape.dim(i);
    }
    Shape result;
    std::vector<int> kept;
    for (int i = 0; i < rank; ++i) {
      if (!is_reduced[i]) kept.push_back(i);
      if (!is_reduced[i] || keep_dims) result.AddDim(is_reduced[i] ? 1 : shape.dim(i));
    }
    ASSIGN_OR_RETURN(result, Shape::Checked(result.dims()));
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, result));
    if (input.num_elements() == 0) return OkStatus();  // nothing to join: empty strings
    std::vector<int64_t> kept_offsets = Offsets(shape, kept, strides), joined_offsets = Offsets(shape, axes, strides);
    const std::string* from = input.data<std::string>();
    std::string* to = output->mutable_data<std::string>();
    for (size_t k = 0; k < kept_offsets.size(); ++k) {
      for (size_t i = 0; i < joined_offsets.size(); ++i) absl::StrAppend(&to[k], i > 0 ? separator : "", from[kept_offsets[k] + joined_offsets[i]]);
    }
    return OkStatus();
  }

  // Of all elements along `axes`, in row-major order of those axes.
  static std::vector<int64_t> Offsets(const Shape& shape, const std::vector<int>& axes, const std::vector<int64_t>& strides) {
    std::vector<int64_t> offsets = {0};
    for (int axis : axes) {
      std::vector<int64_t> next;
      for (int64_t offset : offsets) {
        for (int64_t i = 0; i < shape.dim(axis); ++i) next.push_back(offset + i * strides[axis]);
      }
      offsets = std::move(next);
    }
    return offsets;
  }

  bool keep_dims;
  std::string separator;
};

DEFINE_OP("StringJoin")
    .Input("inputs: N * string")
    .Output("output: string")
    .Attr("N: int >= 0")
    .Attr("separator: string = ''")
    .Shape(StringJoinShape)
    .Cpu(AnyType<StringJoin>())
    .NoGradient();

DEFINE_OP("ReduceJoin")
    .Input("inputs: string")
    .Input("reduction_indices: int32")
    .Output("output: string")
    .Attr("keep_dims: bool = false")
    .Attr("separator: string = ''")
    .Shape(Reduction)
    .Cpu(AnyType<ReduceJoin>())
    .NoGradient();

}  // namespace
}  // namespace tandem
