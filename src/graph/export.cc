#include "graph/graph_state.h"

namespace tandem {
namespace {

// By their bytes. A default in another encoding (tensors have several) is not recognised, and stays.
bool EqualsDefault(const tensorflow::AttrValue& value, const tensorflow::AttrValue& standard) {
  if (value.value_case() != standard.value_case()) return false;
  return value.SerializeAsString() == standard.SerializeAsString();
}

void StripDefaults(const OpDef& op, tensorflow::NodeDef* def) {
  for (const AttrDef& attr : op.attrs) {
    if (!attr.has_default) continue;
    auto found = def->attr().find(attr.name);
    if (found == def->attr().end()) continue;
    tensorflow::AttrValue standard;
    AttrToProto(attr.default_value, &standard);
    if (EqualsDefault(found->second, standard)) def->mutable_attr()->erase(attr.name);
  }
}

}  // namespace

void ExportNode(const Node& node, tensorflow::NodeDef* def, bool strip_defaults) {
  *def->mutable_attr() = node.def.attr();
  def->set_name(node.name());
  def->set_op(node.op_name());
  def->set_device(node.device);
  def->clear_input();
  for (const Output& input : node.inputs) {
    if (input.index == 0) {
      def->add_input(input.node->name());
    } else {
      def->add_input(absl::StrCat(input.node->name(), ":", input.index));
    }
  }
  for (const Node* control : node.control_inputs) def->add_input(absl::StrCat("^", control->name()));
  if (strip_defaults && node.op != nullptr) StripDefaults(node.op->def, def);
}

void ExportGraph(const Graph& graph, int first_node, tensorflow::GraphDef* def) {
  const Graph::State& state = graph.state();
  for (size_t i = static_cast<size_t>(first_node); i < state.nodes.size(); ++i) ExportNode(*state.nodes[i], def->add_node());
  *def->mutable_library() = state.library;
  def->mutable_versions()->set_producer(state.producer_version != 0 ? state.producer_version : kGraphVersion);
}

}  // namespace tandem
