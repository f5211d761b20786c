#include "client/node_builder.h"

#include <memory>
#include <utility>

#include "core/status.h"
#include "graph/node.h"
#include "tandem/error.h"

namespace tandem {

NodeBuilder::NodeBuilder(const char* op, absl::string_view name) {
  spec_.op = op;
  spec_.name = std::string(name);
}

NodeBuilder& NodeBuilder::In(const Output& input) {
  spec_.inputs.push_back(input);
  return *this;
}
NodeBuilder& NodeBuilder::In(const OutputList& inputs) {
  spec_.inputs.insert(spec_.inputs.end(), inputs.begin(), inputs.end());
  return *this;
}

NodeBuilder& NodeBuilder::Set(const char* attr, const char* value) { return Set(attr, std::string(value)); }
#define TANDEM_SET(Type)                                            \
  NodeBuilder& NodeBuilder::Set(const char* attr, Type value) {     \
    spec_.attrs.emplace_back(attr, AttrValue(value));               \
    return *this;                                                   \
  }
TANDEM_SET(const std::string&)
TANDEM_SET(int64_t)
TANDEM_SET(float)
TANDEM_SET(bool)
TANDEM_SET(DataType)
TANDEM_SET(const PartialShape&)
TANDEM_SET(const Tensor&)
TANDEM_SET(const std::vector<std::string>&)
TANDEM_SET(const std::vector<int64_t>&)
TANDEM_SET(const std::vector<float>&)
TANDEM_SET(const std::vector<bool>&)
TANDEM_SET(const std::vector<DataType>&)
TANDEM_SET(const std::vector<PartialShape>&)
TANDEM_SET(const std::vector<Tensor>&)
#undef TANDEM_SET

NodeBuilder& NodeBuilder::On(std::string device) {
  spec_.device = std::move(device);
  return *this;
}
NodeBuilder& NodeBuilder::After(const std::vector<Operation>& operations) {
  spec_.control_inputs.insert(spec_.control_inputs.end(), operations.begin(), operations.end());
  return *this;
}
NodeBuilder& NodeBuilder::With(const Operation& node) {
  colocate_ = node;
  return *this;
}

Operation NodeBuilder::Build() {
  for (const Output& input : spec_.inputs) {
    if (input.is_valid()) return Build(input.graph());
  }
  throw Error(InvalidArgument(spec_.op, spec_.name.empty() ? "" : " '", spec_.name, spec_.name.empty() ? "" : "'",
                              spec_.inputs.empty() ? " needs at least one input" : " has inputs without a value"));
}

Operation NodeBuilder::Build(Graph& graph) {
  for (size_t i = 0; i < spec_.inputs.size(); ++i) {
    if (!spec_.inputs[i].is_valid()) throw Error(InvalidArgument("input ", i, " of ", spec_.op, " '", spec_.name, "' has no value"));
  }
  if (!colocate_.is_valid()) return graph.AddNode(spec_);
  ColocateWith scope(graph, colocate_);
  return graph.AddNode(spec_);
}

OutputList TakeOutputs(const Operation& operation, int count, int* next) {
  OutputList outputs;
  for (int i = 0; i < count; ++i) outputs.push_back(operation.output((*next)++));
  return outputs;
}

int OutputListLength(const Operation& operation, const char* attr) {
  const AttrDef* def = operation.node->op->def.FindAttr(attr);
  if (def != nullptr && def->type == "int") return static_cast<int>(operation.node->attrs().GetInt(attr));
  return static_cast<int>(operation.node->attrs().GetTypes(attr).size());
}

}  // namespace tandem
