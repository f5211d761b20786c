#include "client/random.h"

#include "client/node_builder.h"
#include "graph/graph_state.h"
#include "tandem/ops.h"

namespace tandem {

std::pair<int64_t, int64_t> RandomSeeds(Graph& graph, int64_t op_seed) {
  // What TensorFlow uses for the graph's part when only the op has a seed.
  constexpr int64_t kDefaultGraphSeed = 87654321;
  const int64_t graph_seed = graph.seed();
  if (graph_seed == 0) return op_seed == 0 ? std::make_pair(int64_t{0}, int64_t{0}) : std::make_pair(kDefaultGraphSeed, op_seed);
  // Random ops without a seed of their own are numbered in the order in which they are made.
  return {graph_seed, op_seed != 0 ? op_seed : graph.state().next_op_seed++};
}

namespace {

Output SizesOf(Graph& graph, const Shape& shape) {
  return Const(graph, Tensor(std::vector<int32_t>(shape.dims().begin(), shape.dims().end())), "shape");
}

// x * scale + shift, without the parts that do nothing.
Output ScaleAndShift(Output x, double scale, double shift) {
  if (scale != 1) x = x * scale;
  if (shift != 0) x = x + shift;
  return x;
}

Output Draw(Graph& graph, const char* op, const Shape& shape, DataType dtype, int64_t op_seed) {
  auto [seed, seed2] = RandomSeeds(graph, op_seed);
  return NodeBuilder(op, "").In(SizesOf(graph, shape)).Set("dtype", dtype).Set("seed", seed).Set("seed2", seed2).Build().output();
}

Output IntegerConst(Graph& graph, int64_t value, DataType dtype, const char* name) {
  return Const(graph, dtype == kInt64 ? Tensor(value) : Tensor(static_cast<int32_t>(value)), name);
}

}  // namespace

Output RandomNormal(Graph& graph, const Shape& shape, const NormalOptions& options, absl::string_view name) {
  NameScope scope(graph, name);
  return ScaleAndShift(Draw(graph, "RandomStandardNormal", shape, options.dtype, options.seed), options.stddev, options.mean);
}

Output TruncatedNormal(Graph& graph, const Shape& shape, const NormalOptions& options, absl::string_view name) {
  NameScope scope(graph, name);
  return ScaleAndShift(Draw(graph, "TruncatedNormal", shape, options.dtype, options.seed), options.stddev, options.mean);
}

Output RandomUniform(Graph& graph, const Shape& shape, const UniformOptions& options, absl::string_view name) {
  NameScope scope(graph, name);
  if (!IsInteger(options.dtype)) return ScaleAndShift(Draw(graph, "RandomUniform", shape, options.dtype, options.seed), options.high - options.low, options.low);
  Output low = IntegerConst(graph, static_cast<int64_t>(options.low), options.dtype, "min");
  Output high = IntegerConst(graph, static_cast<int64_t>(options.high), options.dtype, "max");
  auto [seed, seed2] = RandomSeeds(graph, options.seed);
  return NodeBuilder("RandomUniformInt", "").In(SizesOf(graph, shape)).In(low).In(high).Set("seed", seed).Set("seed2", seed2).Build().output();
}

Output RandomShuffle(const Output& x, int64_t op_seed, absl::string_view name) {
  NodeBuilder builder("RandomShuffle", name);
  builder.In(x);
  if (x.is_valid()) {
    auto [seed, seed2] = RandomSeeds(x.graph(), op_seed);
    builder.Set("seed", seed).Set("seed2", seed2);
  }
  return builder.Build().output();
}

}  // namespace tandem
