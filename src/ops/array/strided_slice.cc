#include "ops/array/strided_slice.h"

#include <algorithm>
#include <optional>

#include "ops/array/arguments.h"

namespace tandem {
namespace {

bool HasBit(int64_t mask, int i) { return i < 64 && ((static_cast<uint64_t>(mask) >> i) & 1) != 0; }

// How entries fall on dimensions, and what the result is made of, in order.
struct Layout {
  static constexpr int kNewAxis = -1;
  static constexpr int kWhole = -1;
  absl::InlinedVector<int, 8> dims;    // the entry that speaks of a dimension of the sliced tensor, or kWhole
  absl::InlinedVector<int, 8> result;  // a dimension of the sliced tensor, or kNewAxis
};

StatusOr<Layout> LayOut(int rank, int count, const SliceMasks& masks) {
  int ellipsis = -1, new_axes = 0;
  for (int i = 0; i < count; ++i) {
    if (HasBit(masks.ellipsis, i)) {
      if (ellipsis >= 0) return InvalidArgument("Multiple ellipses in slice spec not allowed");
      ellipsis = i;
    } else if (HasBit(masks.new_axis, i)) {
      ++new_axes;
    }
  }
  int named = count - new_axes - (ellipsis >= 0 ? 1 : 0);  // dimensions that have an entry
  Layout layout;
  auto add_whole = [&](int dims_left_for_entries) {
    while (static_cast<int>(layout.dims.size()) + dims_left_for_entries < rank) {
      layout.result.push_back(static_cast<int>(layout.dims.size()));
      layout.dims.push_back(Layout::kWhole);
    }
  };
  int used = 0;
  for (int i = 0; i < count; ++i) {
    if (i == ellipsis) {
      add_whole(named - used);
    } else if (HasBit(masks.new_axis, i)) {
      layout.result.push_back(Layout::kNewAxis);
    } else {
      int dim = static_cast<int>(layout.dims.size());
      if (dim == rank) return InvalidArgument("Index out of range using input dim ", dim, "; input has only ", rank, " dims");
      if (!HasBit(masks.shrink, i)) layout.result.push_back(dim);
      layout.dims.push_back(i);
      ++used;
    }
  }
  add_whole(0);
  return layout;
}

struct DimSlice {
  int64_t begin = 0, step = 1, size = kUnknownSize;
};

// The elements of a dimension of `dim_size` that one entry names.
StatusOr<DimSlice> SliceDim(int dim, int64_t dim_size, std::optional<int64_t> begin, std::optional<int64_t> end, std::optional<int64_t> stride,
                            bool is_begin_masked, bool is_end_masked, bool is_shrunk) {
  DimSlice slice;
  if (stride.has_value()) {
    if (*stride == 0) return InvalidArgument("strides[", dim, "] must be non-zero");
    if (is_shrunk && *stride <= 0) return InvalidArgument("only stride 1 allowed on non-range indexing.");
    slice.step = *stride;
  }
  if (is_shrunk) {
    slice.size = 1;
    slice.step = 1;
    if (begin.has_value() && dim_size != kUnknownSize) {
      slice.begin = *begin < 0 ? *begin + dim_size : *begin;
      if (slice.begin < 0 || slice.begin >= dim_size) return InvalidArgument("slice index ", slice.begin, " of dimension ", dim, " out of bounds.");
    }
    return slice;
  }
  if (!stride.has_value() || dim_size == kUnknownSize) return slice;
  // Where a walk in this direction may begin and end: -1 and dim_size stand for "past the end".
  int64_t lowest = *stride > 0 ? 0 : -1, highest = *stride > 0 ? dim_size : dim_size - 1;
  auto clamp = [&](int64_t index) { return std::clamp(index < 0 ? index + dim_size : index, lowest, highest); };
  int64_t from, to;
  if (is_begin_masked) {
    from = *stride > 0 ? lowest : highest;
  } else if (begin.has_value()) {
    from = clamp(*begin);
  } else {
    return slice;
  }
  if (is_end_masked) {
    to = *stride > 0 ? highest : lowest;
  } else if (end.has_value()) {
    to = clamp(*end);
  } else {
    return slice;
  }
  int64_t length = to - from;
  bool is_empty = length == 0 || (length < 0) != (*stride < 0);
  slice.begin = from;
  slice.size = is_empty ? 0 : length / *stride + (length % *stride != 0 ? 1 : 0);
  return slice;
}

std::optional<int64_t> At(const Integers* values, int i) {
  if (values == nullptr) return std::nullopt;
  return (*values)[i];
}

struct PartialPlan {
  absl::InlinedVector<DimSlice, 8> dims;
  PartialShape result;
};

StatusOr<PartialPlan> Plan(const PartialShape& sliced, int count, const Integers* begin, const Integers* end,
                           const Integers* strides, const SliceMasks& masks) {
  ASSIGN_OR_RETURN(Layout layout, LayOut(sliced.rank(), count, masks));
  PartialPlan plan;
  for (int dim = 0; dim < sliced.rank(); ++dim) {
    int i = layout.dims[dim];
    if (i == Layout::kWhole) {
      plan.dims.push_back({0, 1, sliced.dim(dim)});
      continue;
    }
    ASSIGN_OR_RETURN(DimSlice slice, SliceDim(dim, sliced.dim(dim), At(begin, i), At(end, i), At(strides, i), HasBit(masks.begin, i),
                                              HasBit(masks.end, i), HasBit(masks.shrink, i)));
    plan.dims.push_back(slice);
  }
  Integers result;
  for (int dim : layout.result) result.push_back(dim == Layout::kNewAxis ? 1 : plan.dims[dim].size);
  if (result.size() > kMaxRank) return InvalidArgument("a slice cannot have ", result.size(), " dimensions");
  plan.result = PartialShape(result);
  return plan;
}

}  // namespace

SliceMasks::SliceMasks(const Attrs& attrs)
    : begin(attrs.GetInt("begin_mask")), end(attrs.GetInt("end_mask")), ellipsis(attrs.GetInt("ellipsis_mask")), new_axis(attrs.GetInt("new_axis_mask")),
      shrink(attrs.GetInt("shrink_axis_mask")) {}

int64_t SlicePlan::Offset(const Shape& sliced) const {
  if (result.num_elements() == 0) return 0;
  Strides strides = RowMajorStrides(sliced);
  int64_t offset = 0;
  for (size_t i = 0; i < begin.size(); ++i) offset += begin[i] * strides[i];
  return offset;
}

Strides SlicePlan::ElementStrides(const Shape& sliced) const {
  Strides strides = RowMajorStrides(sliced);
  // A dimension of one element is not walked; its step may be huge.
  for (size_t i = 0; i < steps.size(); ++i) strides[i] = sizes[i] <= 1 ? 0 : strides[i] * steps[i];
  return strides;
}

StatusOr<SlicePlan> PlanSlice(const Shape& sliced, const Tensor& begin, const Tensor& end, const Tensor& strides, const SliceMasks& masks) {
  if (begin.shape().rank() != 1 || end.shape() != begin.shape() || strides.shape() != begin.shape()) {
    return InvalidArgument("Expected begin, end, and strides to be 1D equal size tensors, but got shapes ", begin.shape().ToString(), ", ",
                           end.shape().ToString(), ", and ", strides.shape().ToString(), " instead.");
  }
  if (begin.num_elements() > 32) return InvalidArgument("slices of more than 32 entries are not supported, got ", begin.num_elements());
  ASSIGN_OR_RETURN(Integers begins, ReadIntegers(begin));
  ASSIGN_OR_RETURN(Integers ends, ReadIntegers(end));
  ASSIGN_OR_RETURN(Integers steps, ReadIntegers(strides));
  ASSIGN_OR_RETURN(PartialPlan partial, Plan(sliced, static_cast<int>(begins.size()), &begins, &ends, &steps, masks));
  SlicePlan plan;
  for (const DimSlice& dim : partial.dims) {
    plan.begin.push_back(dim.begin);
    plan.steps.push_back(dim.step);
    plan.sizes.push_back(dim.size);
  }
  plan.result = partial.result.ToShape();
  return plan;
}

StatusOr<PartialShape> SliceResultShape(const PartialShape& sliced, int count, const Integers* begin, const Integers* end,
                                        const Integers* strides, const SliceMasks& masks) {
  ASSIGN_OR_RETURN(PartialPlan plan, Plan(sliced, count, begin, end, strides, masks));
  return plan.result;
}

}  // namespace tandem
