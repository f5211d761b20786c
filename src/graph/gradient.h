// What an op's gradient function sees: one node, the gradients of its outputs, and a way to add nodes.
//
//   Status SquareGradient(GradientScope& g) {
//     return g.Return({g.Mul(g.grad(0), g.Mul(g.input(0), g.Scalar(2, g.input(0))))});
//   }
#pragma once

#include <string>
#include <vector>

#include "core/status.h"
#include "graph/attrs.h"
#include "tandem/graph.h"

namespace tandem {

// Errors are sticky: after one, Op() returns invalid outputs and Return() the error.
class GradientScope {
 public:
  // `output_gradients[i]` is invalid where nothing depends on output i.
  GradientScope(Graph& graph, Node& node, std::vector<Output> output_gradients);

  Graph& graph() const { return graph_; }
  Node& node() const { return node_; }
  const Attrs& attrs() const { return attrs_; }
  int num_inputs() const;
  Output input(int i) const;
  Output output(int i) const;
  bool has_grad(int i) const { return gradients_[i].is_valid(); }
  // The gradient of output i; zeros of its shape if nothing depends on it.
  Output grad(int i);

  // Adds a node and returns its output 0.
  Output Op(const std::string& op, std::vector<Output> inputs, std::vector<NamedAttr> attrs = {});
  std::vector<Output> OpList(const std::string& op, std::vector<Output> inputs, std::vector<NamedAttr> attrs = {});

  // The usual ones, by name.
  Output Add(Output a, Output b) { return Op("AddV2", {a, b}); }
  Output Sub(Output a, Output b) { return Op("Sub", {a, b}); }
  Output Mul(Output a, Output b) { return Op("Mul", {a, b}); }
  Output RealDiv(Output a, Output b) { return Op("RealDiv", {a, b}); }
  Output Neg(Output a) { return Op("Neg", {a}); }
  Output Const(const Tensor& value) { return Op("Const", {}, {{"value", AttrValue(value)}, {"dtype", value.dtype()}}); }
  Output Scalar(double value, DataType dtype);
  Output Scalar(double value, const Output& like) { return Scalar(value, like.dtype()); }
  // The static shape as a Const if it is fully known, else a Shape op; int32.
  Output ShapeOf(Output x);
  // Sums `gradient` over the axes along which x was broadcast to reach `other`'s shape, for x of a binary op: result i is the
  // gradient of input i. Adds nothing if the static shapes are equal.
  std::pair<Output, Output> ReduceBroadcast(Output gradient_x, Output gradient_y, Output x, Output y);

  // One gradient per input; an invalid Output where there is none. Must be the last call.
  Status Return(std::vector<Output> input_gradients);
  const std::vector<Output>& result() const { return result_; }

 private:
  Graph& graph_;
  Node& node_;
  Attrs attrs_;
  std::vector<Output> gradients_, result_;
  Status status_;
};

}  // namespace tandem
