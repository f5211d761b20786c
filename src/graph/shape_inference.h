// Static shapes: what is known of an op's outputs before it runs. Used while building graphs; a shape function must never
// claim more than the kernel keeps.
#pragma once

#include <vector>

#include "graph/op.h"

namespace tandem {

class ShapeContext {
 public:
  ShapeContext(const Attrs& attrs, std::vector<PartialShape> inputs, std::vector<Tensor> constants, int num_outputs)
      : attrs_(attrs), inputs_(std::move(inputs)), constants_(std::move(constants)), outputs_(num_outputs) {}

  const Attrs& attrs() const { return attrs_; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  const PartialShape& input(int i) const { return inputs_[i]; }
  // The value of input i if the graph tells it (a Const …); null otherwise.
  const Tensor* constant(int i) const { return constants_[i].has_value() ? &constants_[i] : nullptr; }
  // Input i, an int32 or int64 vector, as a shape: unknown sizes where it says -1, unknown rank if it is not constant and its
  // length is unknown.
  PartialShape ConstantAsShape(int i) const;
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  void set_output(int i, PartialShape shape) { outputs_[i] = std::move(shape); }
  const std::vector<PartialShape>& outputs() const { return outputs_; }

 private:
  const Attrs& attrs_;
  std::vector<PartialShape> inputs_;
  std::vector<Tensor> constants_;
  std::vector<PartialShape> outputs_;
};

// The vocabulary. InvalidArgument, naming both shapes, if the inputs can never fit.
Status SameAsInput0(ShapeContext& ctx);         // all outputs
Status ScalarOutputs(ShapeContext& ctx);        // all outputs are scalars
Status NoOutputs(ShapeContext& ctx);
Status Broadcast(ShapeContext& ctx);            // NumPy broadcasting of inputs 0 and 1
Status Reduction(ShapeContext& ctx);            // input 0 over the axes in input 1; attr keep_dims
Status MatMulShape(ShapeContext& ctx);          // attrs transpose_a, transpose_b
Status ShapeFromInput0(ShapeContext& ctx);      // output 0 has the shape that input 0, a vector, names: Fill, RandomUniform
Status ShapeFromAttr(ShapeContext& ctx);        // attr "shape": Placeholder, VariableV2
Status UnknownShapes(ShapeContext& ctx);

StatusOr<PartialShape> BroadcastShapes(const PartialShape& a, const PartialShape& b);

}  // namespace tandem
