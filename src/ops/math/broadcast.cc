#include "ops/math/broadcast.h"

#include <algorithm>

namespace tandem {
namespace {

// Size of `shape` along dimension `i` of `rank`, where shorter shapes get leading ones.
int64_t AlignedDim(const Shape& shape, int rank, int i) {
  const int at = i - (rank - shape.rank());
  return at < 0 ? 1 : shape.dim(at);
}

Status Incompatible(absl::Span<const Shape* const> operands) {
  std::string text = operands[0]->ToString();
  for (size_t k = 1; k < operands.size(); ++k) absl::StrAppend(&text, " vs. ", operands[k]->ToString());
  return InvalidArgument("Incompatible shapes: ", text);
}

StatusOr<Shape> OutputShape(absl::Span<const Shape* const> operands) {
  int rank = 0;
  for (const Shape* shape : operands) rank = std::max(rank, shape->rank());
  absl::InlinedVector<int64_t, 4> sizes(rank, 1);
  for (int i = 0; i < rank; ++i) {
    for (const Shape* shape : operands) {
      const int64_t size = AlignedDim(*shape, rank, i);
      if (size == 1 || size == sizes[i]) continue;
      if (sizes[i] != 1) return Incompatible(operands);
      sizes[i] = size;
    }
  }
  return Shape::Checked(sizes);
}

}  // namespace

StatusOr<BroadcastPlan> PlanBroadcast(absl::Span<const Shape* const> operands) {
  BroadcastPlan plan;
  const size_t count = operands.size();
  if (std::all_of(operands.begin(), operands.end(), [&](const Shape* shape) { return *shape == *operands[0]; })) {
    plan.output = *operands[0];
    plan.sizes = {1, plan.output.num_elements()};
    for (size_t k = 0; k < count; ++k) plan.strides[k] = {0, 1};
    return plan;
  }
  ASSIGN_OR_RETURN(plan.output, OutputShape(operands));

  // From the innermost dimension outwards: `next[k]` is what operand k would have to advance by to continue the loop inside.
  const int rank = plan.output.rank();
  std::array<int64_t, kMaxBroadcastOperands> unit;
  unit.fill(1);
  for (int i = rank - 1; i >= 0; --i) {
    const int64_t size = plan.output.dim(i);
    if (size == 1) continue;
    std::array<int64_t, kMaxBroadcastOperands> stride{};
    bool continues = !plan.sizes.empty();
    for (size_t k = 0; k < count; ++k) {
      const int64_t own = AlignedDim(*operands[k], rank, i);
      stride[k] = own == 1 ? 0 : unit[k];
      unit[k] *= own;
      continues = continues && stride[k] == plan.strides[k].back() * plan.sizes.back();
    }
    if (continues) {
      plan.sizes.back() *= size;
      continue;
    }
    plan.sizes.push_back(size);
    for (size_t k = 0; k < count; ++k) plan.strides[k].push_back(stride[k]);
  }
  while (plan.sizes.size() < 2) {
    const bool is_innermost = plan.sizes.empty();
    plan.sizes.push_back(1);
    for (size_t k = 0; k < count; ++k) plan.strides[k].push_back(is_innermost ? 1 : 0);
  }
  std::reverse(plan.sizes.begin(), plan.sizes.end());
  for (size_t k = 0; k < count; ++k) std::reverse(plan.strides[k].begin(), plan.strides[k].end());
  return plan;
}

void ForEachBlock(const BroadcastPlan& plan, BlockFunction block) {
  if (plan.output.num_elements() == 0) return;
  const int outer = plan.rank() - 2;
  const int64_t block_size = plan.sizes[outer] * plan.sizes[outer + 1];
  BroadcastPlan::Sizes index(outer, 0);
  std::array<int64_t, kMaxBroadcastOperands> offsets{};
  int64_t output = 0;
  while (true) {
    block(offsets, output);
    output += block_size;
    int i = outer - 1;
    for (; i >= 0; --i) {  // an odometer
      const bool carries = ++index[i] == plan.sizes[i];
      for (int k = 0; k < kMaxBroadcastOperands; ++k) {
        if (plan.strides[k].empty()) continue;
        offsets[k] += carries ? -(plan.sizes[i] - 1) * plan.strides[k][i] : plan.strides[k][i];
      }
      if (!carries) break;
      index[i] = 0;
    }
    if (i < 0) return;
  }
}

}  // namespace tandem
