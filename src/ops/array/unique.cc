// Unique and kin: the different rows of a tensor in the order in which they first occur. ListDiff: those of one list not in another.
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"
#include "ops/array/row_keys.h"
#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

constexpr int64_t kMaxEmptyRows = 1 << 20;

struct Groups {
  std::vector<int64_t> group_of;   // each row
  std::vector<int64_t> first_row;  // of each group
};

template <typename Key, typename Keys>
Groups GroupRows(const Keys& keys, int64_t count) {
  Groups groups;
  groups.group_of.resize(count);
  absl::flat_hash_map<Key, int64_t> seen;
  seen.reserve(count);
  for (int64_t i = 0; i < count; ++i) {
    auto [entry, is_new] = seen.try_emplace(Key(keys[i]), static_cast<int64_t>(groups.first_row.size()));
    if (is_new) groups.first_row.push_back(i);
    groups.group_of[i] = entry->second;
  }
  return groups;
}

// Ids are what is made unique most, so integers take a short cut.
StatusOr<Groups> FindGroups(const Tensor& x, int64_t outer, int64_t rows, int64_t inner) {
  bool is_vector = outer == 1 && inner == 1;
  if (is_vector && x.dtype() == kInt32) return GroupRows<int32_t>(x.data<int32_t>(), rows);
  if (is_vector && x.dtype() == kInt64) return GroupRows<int64_t>(x.data<int64_t>(), rows);
  if (is_vector && x.dtype() == kString) return GroupRows<absl::string_view>(x.data<std::string>(), rows);
  ASSIGN_OR_RETURN(std::vector<std::string> keys, RowKeys(x, outer, rows, inner));
  return GroupRows<absl::string_view>(keys, rows);
}

struct Unique {
  explicit Unique(const Attrs& attrs) : has_axis(attrs.op() == "UniqueV2" || attrs.op() == "UniqueWithCountsV2") {}

  Status Run(KernelContext& ctx) const {
    const Tensor& x = ctx.input(0);
    const Shape& shape = x.shape();
    int axis = 0;
    if (has_axis && ctx.input(1).num_elements() > 0) {
      if (ctx.input(1).shape().rank() != 1) return InvalidArgument("axis expects a 1D vector.");
      if (ctx.input(1).num_elements() > 1) return InvalidArgument("axis does not support input tensors larger than 1 elements");
      ASSIGN_OR_RETURN(Integers axes, ReadIntegers(ctx.input(1)));
      if (axes[0] < -shape.rank() || axes[0] >= shape.rank()) return InvalidArgument("axis has to be between [0, ", shape.rank(), ")");
      axis = static_cast<int>(axes[0] < 0 ? axes[0] + shape.rank() : axes[0]);
    } else if (shape.rank() != 1) {
      return InvalidArgument("unique expects a 1D vector.");
    }
    int64_t outer = 1, rows = shape.dim(axis), inner = 1;
    for (int i = 0; i < shape.rank(); ++i) {
      if (i < axis) outer *= shape.dim(i);
    }
    if (x.num_elements() == 0) {
      inner = 0;
    } else {
      inner = x.num_elements() / (outer * rows);
    }
    // Rows without elements are all equal, and there may be any number of them.
    if (x.num_elements() == 0 && rows > kMaxEmptyRows) return ResourceExhausted("unique of ", rows, " rows without elements");
    ASSIGN_OR_RETURN(Groups groups, FindGroups(x, outer, rows, inner));
    int64_t count = static_cast<int64_t>(groups.first_row.size());
    Shape y_shape = shape;
    y_shape.set_dim(axis, count);
    ASSIGN_OR_RETURN(Tensor* y, ctx.Allocate(0, y_shape));
    RETURN_IF_ERROR(WithElement(x.dtype(), [&]<typename E>() {
      E* to = MutableElementsOf<E>(y);
      for (int64_t o = 0; o < outer; ++o) {
        for (int64_t row : groups.first_row) {
          CopyElements(ElementsOf<E>(x) + (o * rows + row) * inner, inner, to);
          to += inner;
        }
      }
      return OkStatus();
    }));
    ASSIGN_OR_RETURN(Tensor idx, MakeVector(ctx.output_type(1), groups.group_of));
    ctx.set_output(1, std::move(idx));
    if (ctx.num_outputs() > 2) {
      std::vector<int64_t> counts(count, 0);
      for (int64_t group : groups.group_of) ++counts[group];
      ASSIGN_OR_RETURN(Tensor made, MakeVector(ctx.output_type(2), counts));
      ctx.set_output(2, std::move(made));
    }
    return OkStatus();
  }

  bool has_axis;
};

Status UniqueShape(ShapeContext& ctx) {
  const PartialShape& x = ctx.input(0);
  if (x.has_rank() && x.rank() != 1) return InvalidArgument("unique expects a 1D vector, got shape ", x.ToString());
  ctx.set_output(0, PartialShape{kUnknownSize});
  ctx.set_output(1, x.has_rank() ? x : PartialShape{kUnknownSize});
  if (ctx.num_outputs() > 2) ctx.set_output(2, PartialShape{kUnknownSize});
  return OkStatus();
}

Status UniqueV2Shape(ShapeContext& ctx) {
  const PartialShape& x = ctx.input(0);
  PartialShape y, idx{kUnknownSize};
  if (x.has_rank()) y = PartialShape::UnknownOfRank(x.rank());
  Integers axes;
  if (x.rank() > 0 && ConstantVector(ctx, 1, &axes) && axes.size() <= 1) {
    int64_t axis = axes.empty() ? 0 : axes[0];
    if (axis < -x.rank() || axis >= x.rank()) return InvalidArgument("axis has to be between [0, ", x.rank(), "), got ", axis);
    if (axis < 0) axis += x.rank();
    y = x;
    y.set_dim(static_cast<int>(axis), kUnknownSize);
    idx = PartialShape{x.dim(static_cast<int>(axis))};
  }
  ctx.set_output(0, y);
  ctx.set_output(1, idx);
  if (ctx.num_outputs() > 2) ctx.set_output(2, PartialShape{kUnknownSize});
  return OkStatus();
}

struct ListDiff {
  Status Run(KernelContext& ctx) const {
    const Tensor &x = ctx.input(0), &y = ctx.input(1);
    if (x.shape().rank() != 1) return InvalidArgument("x should be a 1D vector.");
    if (y.shape().rank() != 1) return InvalidArgument("y should be a 1D vector.");
    ASSIGN_OR_RETURN(std::vector<std::string> x_keys, RowKeys(x, 1, x.num_elements(), 1));
    ASSIGN_OR_RETURN(std::vector<std::string> y_keys, RowKeys(y, 1, y.num_elements(), 1));
    absl::flat_hash_set<absl::string_view> excluded(y_keys.begin(), y_keys.end());
    std::vector<int64_t> kept;
    for (size_t i = 0; i < x_keys.size(); ++i) {
      if (!excluded.contains(x_keys[i])) kept.push_back(static_cast<int64_t>(i));
    }
    ASSIGN_OR_RETURN(Tensor* out, ctx.Allocate(0, Shape{static_cast<int64_t>(kept.size())}));
    RETURN_IF_ERROR(WithElement(x.dtype(), [&]<typename E>() {
      E* to = MutableElementsOf<E>(out);
      for (int64_t i : kept) *to++ = ElementsOf<E>(x)[i];
      return OkStatus();
    }));
    ASSIGN_OR_RETURN(Tensor idx, MakeVector(ctx.output_type(1), kept));
    ctx.set_output(1, std::move(idx));
    return OkStatus();
  }
};

Status ListDiffShape(ShapeContext& ctx) {
  ctx.set_output(0, PartialShape{kUnknownSize});
  ctx.set_output(1, PartialShape{kUnknownSize});
  return OkStatus();
}

DEFINE_OP("Unique")
    .Input("x: T")
    .Output("y: T")
    .Output("idx: out_idx")
    .Attr("T: type")
    .Attr("out_idx: IDX = int32")
    .Shape(UniqueShape)
    .Cpu(AnyType<Unique>())
    .NoGradient();

DEFINE_OP("UniqueV2")
    .Input("x: T")
    .Input("axis: Taxis")
    .Output("y: T")
    .Output("idx: out_idx")
    .Attr("T: type")
    .Attr("Taxis: IDX = int64")
    .Attr("out_idx: IDX = int32")
    .Shape(UniqueV2Shape)
    .Cpu(AnyType<Unique>())
    .NoGradient();

DEFINE_OP("UniqueWithCounts")
    .Input("x: T")
    .Output("y: T")
    .Output("idx: out_idx")
    .Output("count: out_idx")
    .Attr("T: type")
    .Attr("out_idx: IDX = int32")
    .Shape(UniqueShape)
    .Cpu(AnyType<Unique>())
    .NoGradient();

DEFINE_OP("UniqueWithCountsV2")
    .Input("x: T")
    .Input("axis: Taxis")
    .Output("y: T")
    .Output("idx: out_idx")
    .Output("count: out_idx")
    .Attr("T: type")
    .Attr("Taxis: IDX = int64")
    .Attr("out_idx: IDX = int32")
    .Shape(UniqueV2Shape)
    .Cpu(AnyType<Unique>())
    .NoGradient();

DEFINE_OP("ListDiff")
    .Input("x: T")
    .Input("y: T")
    .Output("out: T")
    .Output("idx: out_idx")
    .Attr("T: type")
    .Attr("out_idx: IDX = int32")
    .Shape(ListDiffShape)
    .Cpu(AnyType<ListDiff>())
    .NoGradient();

}  // namespace
}  // namespace tandem
