// What follows from the inputs of a node that is being added: attrs, and the shapes of its outputs.
#pragma once

#include <vector>

#include "graph/node.h"

namespace tandem {

// Sets the type, number and type-list attrs that the inputs imply and that are not set. InvalidArgument if the number of inputs
// does not fit the op.
Status InferAttrsFromInputs(const OpDef& op, const std::vector<Output>& inputs, tensorflow::NodeDef* def);

// Whether node.inputs have node.input_types. A reference may feed a value, not the other way round.
Status CheckInputTypes(const Node& node);

// Fills node->output_shapes by the op's shape function. InvalidArgument if the input shapes can never fit.
Status InferShapes(Node* node);

// The value of an output if the graph alone tells it: a small Const, the Shape, Size or Rank of a tensor of known shape, an
// Identity or Pack of such. No value otherwise.
Tensor ConstantValue(const Output& output);

}  // namespace tandem
