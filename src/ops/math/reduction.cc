#include "ops/math/reduction.h"

namespace tandem {
namespace {

struct Group {
  int64_t size;
  bool is_reduced;
};

std::vector<Group> GroupDims(const Shape& input, const std::vector<bool>& is_reduced) {
  std::vector<Group> groups;
  for (int i = 0; i < input.rank(); ++i) {
    if (input.dim(i) == 1) continue;
    if (!groups.empty() && groups.back().is_reduced == is_reduced[i]) {
      groups.back().size *= input.dim(i);
    } else {
      groups.push_back({input.dim(i), is_reduced[i]});
    }
  }
  return groups;
}

int64_t SizeOf(absl::Span<const Group> groups) {
  int64_t product = 1;
  for (const Group& group : groups) product *= group.size;
  return product;
}

}  // namespace

StatusOr<ReductionPlan> PlanReduction(const Shape& input, const Tensor& axes, bool keep_dims) {
  if (axes.dtype() != kInt32 && axes.dtype() != kInt64) return InvalidArgument("reduction indices must be int32 or int64, not ", DataTypeName(axes.dtype()));
  ReductionPlan plan;
  plan.is_reduced.assign(input.rank(), false);
  for (int64_t i = 0; i < axes.num_elements(); ++i) {
    const int64_t given = axes.dtype() == kInt32 ? axes.data<int32_t>()[i] : axes.data<int64_t>()[i];
    if (given < -input.rank() || given >= input.rank()) {
      return InvalidArgument("Invalid reduction dimension (", given, " for input with ", input.rank(), " dimension(s)");
    }
    const int64_t axis = given < 0 ? given + input.rank() : given;
    if (plan.is_reduced[axis]) return InvalidArgument("Invalid reduction arguments: Axes contains duplicate dimension: ", axis);
    plan.is_reduced[axis] = true;
  }
  for (int i = 0; i < input.rank(); ++i) {
    if (!plan.is_reduced[i]) {
      plan.output.AddDim(input.dim(i));
    } else {
      plan.count *= input.dim(i);
      if (keep_dims) plan.output.AddDim(1);
    }
  }
  return plan;
}

StatusOr<Tensor> Reduce(const Tensor& x, const ReductionPlan& plan, ReduceFunction function) {
  std::vector<Group> groups = GroupDims(x.shape(), plan.is_reduced);
  Tensor current = x;
  for (int i = static_cast<int>(groups.size()) - 1; i >= 0; --i) {
    if (!groups[i].is_reduced) continue;
    const absl::Span<const Group> all(groups);
    ReduceLoop loop{current.raw_data(), nullptr, SizeOf(all.first(i)), groups[i].size, SizeOf(all.subspan(i + 1))};
    ASSIGN_OR_RETURN(Tensor folded, Tensor::Allocate(x.dtype(), Shape({loop.outer, loop.inner})));
    loop.out = folded.mutable_raw_data();
    function(loop);
    current = std::move(folded);
    groups[i].size = 1;
  }
  current.set_shape(plan.output);
  return current;
}

}  // namespace tandem
