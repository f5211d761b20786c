// How operands of different shapes stretch to one (NumPy's rules), reduced to as few loops as possible.
#pragma once

#include <array>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "core/status.h"
#include "tandem/shape.h"

namespace tandem {

constexpr int kMaxBroadcastOperands = 3;

// Adjacent dimensions along which every operand advances alike are one; dimensions of size 1 are gone.
struct BroadcastPlan {
  using Sizes = absl::InlinedVector<int64_t, 4>;

  Shape output;
  Sizes sizes;                                       // outermost first, at least two (1 where there is nothing to loop over)
  std::array<Sizes, kMaxBroadcastOperands> strides;  // elements per step of each loop; 0 along stretched dimensions

  int rank() const { return static_cast<int>(sizes.size()); }
};

// InvalidArgument "Incompatible shapes: [3] vs. [4]".
StatusOr<BroadcastPlan> PlanBroadcast(absl::Span<const Shape* const> operands);

// Calls `block` for each combination of the outer dimensions, all but the last two, with the element offsets of the operands
// and of the output. Never for an empty output.
using BlockFunction = absl::FunctionRef<void(const std::array<int64_t, kMaxBroadcastOperands>& operands, int64_t output)>;
void ForEachBlock(const BroadcastPlan& plan, BlockFunction block);

}  // namespace tandem
