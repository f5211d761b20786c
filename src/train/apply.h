// The node that applies one optimizer's rule to one variable.
#pragma once

#include "client/node_builder.h"
#include "tandem/variable.h"

namespace tandem {

// "Apply<rule>" or "ResourceApply<rule>" on the variable's device. The variable's handle is its first input.
inline NodeBuilder ApplyNode(const std::string& rule, const Variable& variable) {
  NodeBuilder node(((variable.is_resource() ? "ResourceApply" : "Apply") + rule).c_str(), "");
  node.In(variable.handle()).With(variable.handle());
  return node;
}

}  // namespace tandem
