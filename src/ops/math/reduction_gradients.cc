#include "ops/math/reduction_gradients.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "graph/infer_node.h"
#include "ops/math/gradients.h"

namespace tandem {
namespace {

// The axes of a reduction of known rank over constant axes, ascending and not negative; no value otherwise.
std::optional<std::vector<int64_t>> KnownAxes(GradientScope& g) {
  const PartialShape& shape = g.input(0).shape();
  const Tensor axes = ConstantValue(g.input(1));
  if (!shape.has_rank() || !axes.has_value()) return std::nullopt;
  std::vector<int64_t> known;
  for (int64_t i = 0; i < axes.num_elements(); ++i) {
    const int64_t axis = axes.dtype() == kInt32 ? axes.data<int32_t>()[i] : axes.data<int64_t>()[i];
    if (axis < -shape.rank() || axis >= shape.rank()) return std::nullopt;  // the op itself will say so
    known.push_back(axis < 0 ? axis + shape.rank() : axis);
  }
  std::sort(known.begin(), known.end());
  return known;
}

// The shape of the output as if keep_dims were true, as an int32 vector made while running.
Output KeptShape(GradientScope& g) {
  const Output shape = g.ShapeOf(g.input(0));
  const Output rank = g.Op("Rank", {g.input(0)});
  Output axes = g.input(1).dtype() == kInt32 ? g.input(1) : g.Op("Cast", {g.input(1)}, {{"DstT", kInt32}});
  axes = g.Op("Reshape", {axes, g.Const(Tensor::Vector<int32_t>(std::vector<int32_t>{-1}))});
  axes = g.Op("FloorMod", {g.Add(axes, rank), rank});
  const Output dims = g.Op("Range", {g.Scalar(0, kInt32), rank, g.Scalar(1, kInt32)});
  const Output ones = g.Op("Fill", {g.Op("Shape", {axes}), g.Scalar(1, kInt32)});
  return g.Op("DynamicStitch", {dims, axes, shape, ones});
}

// Number of input elements per output element, as a scalar of the input's type.
Output ReducedCount(GradientScope& g) {
  const DataType type = g.input(0).dtype();
  const int64_t in = g.input(0).shape().num_elements(), out = g.output(0).shape().num_elements();
  if (in != kUnknownSize && out != kUnknownSize) return g.Scalar(static_cast<double>(in / std::max<int64_t>(out, 1)), type);
  const Output in_size = g.Op("Size", {g.input(0)}), out_size = g.Op("Size", {g.output(0)});
  const Output count = g.Op("FloorDiv", {in_size, g.Op("Maximum", {out_size, g.Scalar(1, kInt32)})});
  return g.Op("Cast", {count}, {{"DstT", type}});
}

}  // namespace

Output WithReducedAxes(GradientScope& g, const Output& reduced) {
  if (g.attrs().GetBool("keep_dims")) return reduced;
  const std::optional<std::vector<int64_t>> axes = KnownAxes(g);
  if (!axes.has_value()) return g.Op("Reshape", {reduced, KeptShape(g)});
  const PartialShape& input = g.input(0).shape();
  if (input.is_fully_known()) {
    std::vector<int32_t> kept(input.dims().begin(), input.dims().end());
    for (int64_t axis : *axes) kept[axis] = 1;
    return g.Op("Reshape", {reduced, g.Const(Tensor::Vector<int32_t>(kept))});
  }
  Output expanded = reduced;
  for (int64_t axis : *axes) expanded = g.Op("ExpandDims", {expanded, g.Scalar(static_cast<double>(axis), kInt32)});
  return expanded;
}

Status SumGradient(GradientScope& g) { return g.Return({g.Op("BroadcastTo", {WithReducedAxes(g, g.grad(0)), g.ShapeOf(g.input(0))}), Output()}); }

Status MeanGradient(GradientScope& g) {
  const Output scaled = g.RealDiv(g.grad(0), ReducedCount(g));
  return g.Return({g.Op("BroadcastTo", {WithReducedAxes(g, scaled), g.ShapeOf(g.input(0))}), Output()});
}

// Shared equally by all elements that have the extreme value.
Status ExtremumGradient(GradientScope& g) {
  const Output is_extreme = g.Op("Equal", {WithReducedAxes(g, g.output(0)), g.input(0)});
  const Output indicator = g.Op("Cast", {is_extreme}, {{"DstT", g.input(0).dtype()}});
  const Output count = g.Op("Sum", {indicator, g.input(1)}, {{"keep_dims", true}});
  return g.Return({g.Mul(g.RealDiv(indicator, count), WithReducedAxes(g, g.grad(0))), Output()});
}

// d prod / dx_i is the product of all others: of those before it times those after it, which is right also where some are 0.
Status ProdGradient(GradientScope& g) {
  const Output x = g.input(0);
  const Output shape = g.ShapeOf(x);
  const Output rank = g.Op("Rank", {x});
  const Output vector = g.Const(Tensor::Vector<int32_t>(std::vector<int32_t>{-1}));
  Output axes = g.input(1).dtype() == kInt32 ? g.input(1) : g.Op("Cast", {g.input(1)}, {{"DstT", kInt32}});
  axes = g.Op("FloorMod", {g.Add(g.Op("Reshape", {axes, vector}), rank), rank});
  const Output dims = g.Op("Range", {g.Scalar(0, kInt32), rank, g.Scalar(1, kInt32)});
  const Output others = g.Op("ListDiff", {dims, axes});
  const Output zero = g.Scalar(0, kInt32);
  const Output order = g.Op("ConcatV2", {axes, others, zero});
  const auto size_of = [&](const Output& some) { return g.Op("Prod", {g.Op("GatherV2", {shape, some, zero}), zero}); };
  const Output matrix_shape = g.Op("Pack", {size_of(axes), size_of(others)});
  const Output permuted = g.Op("Transpose", {x, order});
  const Output matrix = g.Op("Reshape", {permuted, matrix_shape});
  const Output before = g.Op("Cumprod", {matrix, zero}, {{"exclusive", true}});
  const Output after = g.Op("Cumprod", {matrix, zero}, {{"exclusive", true}, {"reverse", true}});
  const Output rest = g.Op("Reshape", {g.Mul(Conjugate(g, before), Conjugate(g, after)), g.Op("Shape", {permuted})});
  const Output product = g.Mul(WithReducedAxes(g, g.grad(0)), g.Op("Transpose", {rest, g.Op("InvertPermutation", {order})}));
  return g.Return({g.Op("Reshape", {product, shape}), Output()});
}

// d‖x‖ = x / ‖x‖ dx
Status EuclideanNormGradient(GradientScope& g) {
  const Output scale = WithReducedAxes(g, g.RealDiv(g.output(0), g.grad(0)));
  return g.Return({g.RealDiv(g.input(0), scale), Output()});
}

}  // namespace tandem
