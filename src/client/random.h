// Seeds of random ops, as TensorFlow's client chooses them.
#pragma once

#include <cstdint>
#include <utility>

#include "tandem/graph.h"

namespace tandem {

// The attrs `seed` and `seed2` of a random op that is about to be made, from the graph's seed and the op's (0: none). The rules
// are those of TensorFlow 2.15 (specification, section 7.9): there the op's part is a count of random ops.
std::pair<int64_t, int64_t> RandomSeeds(Graph& graph, int64_t op_seed);

}  // namespace tandem
