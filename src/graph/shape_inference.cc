#include "graph/shape_inference.h"

#include <algorithm>

namespace tandem {

PartialShape ShapeContext::ConstantAsShape(int i) const {
  const Tensor* value = constant(i);
  if (value == nullptr) {
    const PartialShape& shape = input(i);
    if (!shape.has_rank() || shape.rank() != 1 || shape.dim(0) == kUnknownSize || shape.dim(0) > kMaxRank) return PartialShape();
    return PartialShape::UnknownOfRank(static_cast<int>(shape.dim(0)));
  }
  if (value->shape().rank() != 1) return PartialShape();
  std::vector<int64_t> sizes;
  for (int64_t k = 0; k < value->num_elements(); ++k) {
    const int64_t size = value->dtype() == kInt32 ? value->data<int32_t>()[k] : value->data<int64_t>()[k];
    sizes.push_back(size < 0 ? kUnknownSize : size);
  }
  return PartialShape(absl::MakeConstSpan(sizes));
}

Status SameAsInput0(ShapeContext& ctx) {
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.set_output(i, ctx.input(0));
  return OkStatus();
}

Status ScalarOutputs(ShapeContext& ctx) {
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.set_output(i, PartialShape::Scalar());
  return OkStatus();
}

Status NoOutputs(ShapeContext&) { return OkStatus(); }
Status UnknownShapes(ShapeContext&) { return OkStatus(); }

StatusOr<PartialShape> BroadcastShapes(const PartialShape& a, const PartialShape& b) {
  if (!a.has_rank() || !b.has_rank()) return PartialShape();
  const int rank = std::max(a.rank(), b.rank());
  std::vector<int64_t> sizes(rank);
  for (int i = 0; i < rank; ++i) {
    const int64_t x = i < rank - a.rank() ? 1 : a.dim(i - (rank - a.rank()));
    const int64_t y = i < rank - b.rank() ? 1 : b.dim(i - (rank - b.rank()));
    if (x == 1) {
      sizes[i] = y;
    } else if (y == 1 || x == y) {
      sizes[i] = x;
    } else if (x == kUnknownSize || y == kUnknownSize) {
      sizes[i] = std::max(x, y);  // the known one, above 1: the other must be equal or 1
    } else {
      return InvalidArgument("Incompatible shapes: ", a.ToString(), " vs. ", b.ToString());
    }
  }
  return PartialShape(absl::MakeConstSpan(sizes));
}

Status Broadcast(ShapeContext& ctx) {
  ASSIGN_OR_RETURN(PartialShape shape, BroadcastShapes(ctx.input(0), ctx.input(1)));
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.set_output(i, shape);
  return OkStatus();
}

Status Reduction(ShapeContext& ctx) {
  const PartialShape& in = ctx.input(0);
  if (!in.has_rank()) return OkStatus();
  const bool keep_dims = ctx.attrs().GetBool("keep_dims");
  const Tensor* axes = ctx.constant(1);
  if (axes == nullptr) {
    if (keep_dims) ctx.set_output(0, PartialShape::UnknownOfRank(in.rank()));
    return OkStatus();
  }
  std::vector<bool> is_reduced(in.rank(), false);
  for (int64_t k = 0; k < axes->num_elements(); ++k) {
    int64_t axis = axes->dtype() == kInt32 ? axes->data<int32_t>()[k] : axes->data<int64_t>()[k];
    if (axis < -in.rank() || axis >= in.rank()) {
      return InvalidArgument("Invalid reduction dimension ", axis, " for input with ", in.rank(), " dimensions.");
    }
    is_reduced[axis < 0 ? axis + in.rank() : axis] = true;
  }
  std::vector<int64_t> sizes;
  for (int i = 0; i < in.rank(); ++i) {
    if (!is_reduced[i]) {
      sizes.push_back(in.dim(i));
    } else if (keep_dims) {
      sizes.push_back(1);
    }
  }
  ctx.set_output(0, PartialShape(absl::MakeConstSpan(sizes)));
  return OkStatus();
}

Status MatMulShape(ShapeContext& ctx) {
  const PartialShape& a = ctx.input(0);
  const PartialShape& b = ctx.input(1);
  for (const PartialShape* shape : {&a, &b}) {
    if (shape->has_rank() && shape->rank() != 2) return InvalidArgument("Shape must be rank 2 but is rank ", shape->rank(), " for shape ", shape->ToString());
  }
  const bool transpose_a = ctx.attrs().GetBool("transpose_a"), transpose_b = ctx.attrs().GetBool("transpose_b");
  const int64_t rows = a.has_rank() ? a.dim(transpose_a ? 1 : 0) : kUnknownSize;
  const int64_t columns = b.has_rank() ? b.dim(transpose_b ? 0 : 1) : kUnknownSize;
  const int64_t inner_a = a.has_rank() ? a.dim(transpose_a ? 0 : 1) : kUnknownSize;
  const int64_t inner_b = b.has_rank() ? b.dim(transpose_b ? 1 : 0) : kUnknownSize;
  if (inner_a != kUnknownSize && inner_b != kUnknownSize && inner_a != inner_b) {
    return InvalidArgument("Dimensions must be equal, but are ", inner_a, " and ", inner_b, " for matrices ", a.ToString(), " and ", b.ToString());
  }
  ctx.set_output(0, PartialShape{rows, columns});
  return OkStatus();
}

Status ShapeFromInput0(ShapeContext& ctx) {
  const PartialShape shape = ctx.ConstantAsShape(0);
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.set_output(i, shape);
  return OkStatus();
}

Status ShapeFromAttr(ShapeContext& ctx) {
  const PartialShape shape = ctx.attrs().GetShape("shape");
  for (int i = 0; i < ctx.num_outputs(); ++i) ctx.set_output(i, shape);
  return OkStatus();
}

}  // namespace tandem
