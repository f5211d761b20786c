#include "graph/node.h"

#include <algorithm>
#include <queue>

#include "absl/container/flat_hash_set.h"
#include "graph/graph_state.h"

namespace tandem {
namespace {

using ProtoAttr = tensorflow::AttrValue;

std::string NodeSuffix(const tensorflow::NodeDef& def) { return absl::StrCat("\n\t [[{{node ", def.name(), "}}]]"); }

const char* KindName(const ProtoAttr& value) {
  switch (value.value_case()) {
    case ProtoAttr::kS: return "string";
    case ProtoAttr::kI: return "int";
    case ProtoAttr::kF: return "float";
    case ProtoAttr::kB: return "bool";
    case ProtoAttr::kType: return "type";
    case ProtoAttr::kShape: return "shape";
    case ProtoAttr::kTensor: return "tensor";
    case ProtoAttr::kFunc: return "func";
    case ProtoAttr::kPlaceholder: return "placeholder";
    case ProtoAttr::kList: return "list";
    case ProtoAttr::VALUE_NOT_SET: return "none";
  }
  return "unknown";
}

int ListSize(const ProtoAttr::ListValue& list) {
  return list.s_size() + list.i_size() + list.f_size() + list.b_size() + list.type_size() + list.shape_size() + list.tensor_size() + list.func_size();
}

int ListSizeOf(const ProtoAttr::ListValue& list, absl::string_view element) {
  if (element == "string") return list.s_size();
  if (element == "int") return list.i_size();
  if (element == "float") return list.f_size();
  if (element == "bool") return list.b_size();
  if (element == "type") return list.type_size();
  if (element == "shape") return list.shape_size();
  if (element == "tensor") return list.tensor_size();
  if (element == "func") return list.func_size();
  return 0;
}

// "int" for list(int), or empty.
absl::string_view ElementType(absl::string_view type) {
  if (type.size() < 6 || type.substr(0, 5) != "list(") return "";
  return type.substr(5, type.size() - 6);
}

Status CheckType(const AttrDef& attr, DataType type) {
  if (IsRef(type)) return InvalidArgument("AttrValue must not have reference type value of ", DataTypeName(type), " for attr '", attr.name, "'");
  const std::vector<DataType>& allowed = attr.allowed_types;
  if (type <= kInvalid) return InvalidArgument("Invalid type number ", static_cast<int>(type), " for attr '", attr.name, "'");
  if (allowed.empty() || std::find(allowed.begin(), allowed.end(), type) != allowed.end()) return OkStatus();
  std::string names;
  for (DataType t : allowed) absl::StrAppend(&names, names.empty() ? "" : ", ", DataTypeName(t));
  return InvalidArgument("Value for attr '", attr.name, "' of ", DataTypeName(type), " is not in the list of allowed values: ", names);
}

Status CheckString(const AttrDef& attr, const std::string& value) {
  const std::vector<std::string>& allowed = attr.allowed_strings;
  if (allowed.empty() || std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return OkStatus();
  std::string names;
  for (const std::string& s : allowed) absl::StrAppend(&names, names.empty() ? "\"" : ", \"", s, "\"");
  return InvalidArgument("Value for attr '", attr.name, "' of \"", value, "\" is not in the list of allowed values: ", names);
}

Status CheckAttr(const AttrDef& attr, const ProtoAttr& value) {
  absl::string_view element = ElementType(attr.type);
  if (element.empty()) {
    if (attr.type != KindName(value)) {
      return InvalidArgument("AttrValue had value with type '", KindName(value), "' when '", attr.type, "' expected for attr '", attr.name, "'");
    }
    if (attr.type == "type") return CheckType(attr, static_cast<DataType>(value.type()));
    if (attr.type == "string") return CheckString(attr, value.s());
    if (attr.type == "int" && attr.has_minimum && value.i() < attr.minimum) {
      return InvalidArgument("Value for attr '", attr.name, "' of ", value.i(), " must be at least minimum ", attr.minimum);
    }
    return OkStatus();
  }
  // An empty list may have lost its kind on the way.
  bool is_empty = value.value_case() == ProtoAttr::VALUE_NOT_SET;
  if ((!is_empty && value.value_case() != ProtoAttr::kList) || ListSizeOf(value.list(), element) != ListSize(value.list())) {
    return InvalidArgument("AttrValue had value with type '", KindName(value), "' when '", attr.type, "' expected for attr '", attr.name, "'");
  }
  if (attr.has_minimum && ListSize(value.list()) < attr.minimum) {
    return InvalidArgument("Length for attr '", attr.name, "' of ", ListSize(value.list()), " must be at least minimum ", attr.minimum);
  }
  for (int type : value.list().type()) RETURN_IF_ERROR(CheckType(attr, static_cast<DataType>(type)));
  for (const std::string& s : value.list().s()) RETURN_IF_ERROR(CheckString(attr, s));
  return OkStatus();
}

StatusOr<const ProtoAttr*> RequireAttr(const tensorflow::NodeDef& def, const std::string& name) {
  auto found = def.attr().find(name);
  if (found == def.attr().end()) return NotFound("No attr named '", name, "' in NodeDef:", NodeSuffix(def));
  return &found->second;
}

constexpr int64_t kMaxArgs = 1 << 16;  // of one node; more is a damaged graph, and would cost memory before it is found out

Status AddTypes(const ArgDef& arg, const tensorflow::NodeDef& def, std::vector<DataType>* types) {
  auto add = [&](DataType type) { types->push_back(arg.is_ref ? MakeRef(type) : type); };
  if (!arg.type_list_attr.empty()) {
    ASSIGN_OR_RETURN(const ProtoAttr* list, RequireAttr(def, arg.type_list_attr));
    for (int type : list->list().type()) add(static_cast<DataType>(type));
    return OkStatus();
  }
  DataType type = arg.type;
  if (!arg.type_attr.empty()) {
    ASSIGN_OR_RETURN(const ProtoAttr* value, RequireAttr(def, arg.type_attr));
    type = static_cast<DataType>(value->type());
  }
  int64_t count = 1;
  if (!arg.number_attr.empty()) {
    ASSIGN_OR_RETURN(const ProtoAttr* value, RequireAttr(def, arg.number_attr));
    count = value->i();
    if (count < 0 || count > kMaxArgs) return InvalidArgument("Value for number_attr() ", count, " out of range for '", arg.name, "'", NodeSuffix(def));
  }
  if (type <= kInvalid || IsRef(type)) return InvalidArgument("Argument '", arg.name, "' has no valid type", NodeSuffix(def));
  for (int64_t i = 0; i < count; ++i) add(type);
  return OkStatus();
}

}  // namespace

Status ComputeTypes(const OpDef& op, const tensorflow::NodeDef& def, std::vector<DataType>* inputs, std::vector<DataType>* outputs) {
  inputs->clear();
  outputs->clear();
  for (const ArgDef& arg : op.inputs) RETURN_IF_ERROR(AddTypes(arg, def, inputs));
  for (const ArgDef& arg : op.outputs) RETURN_IF_ERROR(AddTypes(arg, def, outputs));
  return OkStatus();
}

Status CompleteAttrs(const OpDef& op, tensorflow::NodeDef* def) {
  for (const AttrDef& attr : op.attrs) {
    auto found = def->attr().find(attr.name);
    if (found == def->attr().end()) {
      if (!attr.has_default) return NotFound("No attr named '", attr.name, "' in NodeDef:", NodeSuffix(*def));
      AttrToProto(attr.default_value, &(*def->mutable_attr())[attr.name]);
      continue;
    }
    Status status = CheckAttr(attr, found->second);
    if (!status.ok()) return Status(status.code(), absl::StrCat(status.message(), NodeSuffix(*def)));
  }
  return OkStatus();
}

Consumers FindConsumers(const Graph& graph) {
  Consumers consumers;
  consumers.by_node.resize(graph.nodes().size());
  for (const std::unique_ptr<Node>& node : graph.nodes()) {
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      const Output& input = node->inputs[i];
      consumers.by_node[input.node->id].push_back({node.get(), static_cast<int>(i), input.index});
    }
    for (Node* control : node->control_inputs) consumers.by_node[control->id].push_back({node.get(), -1, -1});
  }
  return consumers;
}

bool IsBackEdge(const Node& from, const Node& to) {
  const std::string& source = from.op_name();
  const std::string& target = to.op_name();
  return (source == "NextIteration" || source == "RefNextIteration") && (target == "Merge" || target == "RefMerge");
}

StatusOr<std::vector<Node*>> TopologicalOrder(absl::Span<Node* const> nodes) {
  absl::flat_hash_map<const Node*, int> position;
  position.reserve(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) position.emplace(nodes[i], static_cast<int>(i));
  std::vector<std::vector<int>> consumers(nodes.size());
  std::vector<int> pending(nodes.size(), 0);
  for (size_t i = 0; i < nodes.size(); ++i) {
    auto add = [&](const Node* from) {
      auto found = position.find(from);
      if (found == position.end() || IsBackEdge(*from, *nodes[i])) return;
      consumers[found->second].push_back(static_cast<int>(i));
      ++pending[i];
    };
    for (const Output& input : nodes[i]->inputs) add(input.node);
    for (const Node* control : nodes[i]->control_inputs) add(control);
  }
  // The first of all ready nodes comes next, so that an order that is right already stays as it is.
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (pending[i] == 0) ready.push(static_cast<int>(i));
  }
  std::vector<Node*> order;
  order.reserve(nodes.size());
  while (!ready.empty()) {
    int next = ready.top();
    ready.pop();
    order.push_back(nodes[next]);
    for (int consumer : consumers[next]) {
      if (--pending[consumer] == 0) ready.push(consumer);
    }
  }
  if (order.size() < nodes.size()) return InvalidArgument(nodes.size() - order.size(), " nodes in a cycle");
  return order;
}

StatusOr<std::vector<Node*>> TopologicalOrder(const Graph& graph) {
  std::vector<Node*> nodes;
  nodes.reserve(graph.nodes().size());
  for (const std::unique_ptr<Node>& node : graph.nodes()) nodes.push_back(node.get());
  return TopologicalOrder(nodes);
}

}  // namespace tandem
