#include "tandem/graph.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "graph/device_name.h"
#include "graph/graph_state.h"
#include "graph/infer_node.h"
#include "tandem/error.h"

namespace tandem {
namespace {

// The parts that `inner` names, and those of `outer` that it does not. A text that is no device name is kept as it is: placement
// names the node that has it.
std::string MergeDevices(const std::string& outer, const std::string& inner) {
  if (inner.empty()) return outer;
  const StatusOr<DeviceName> base = DeviceName::Parse(outer), over = DeviceName::Parse(inner);
  if (!over.ok() || !base.ok()) return over.ok() ? outer : inner;
  return OverrideDeviceName(*base, *over).ToString();
}

bool IsNameStart(char c) { return absl::ascii_isalnum(c) || c == '.'; }
bool IsNameCharacter(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '\\' || c == '-' || c == '/' || c == '>'; }

Status CheckName(absl::string_view name) {
  if (!name.empty() && IsNameStart(name[0]) && std::all_of(name.begin(), name.end(), IsNameCharacter)) return OkStatus();
  return InvalidArgument("'", name, "' is not a valid node name: letters, digits and any of _.\\-/> are allowed, and the first must be a letter, a digit or a dot");
}

}  // namespace

DataType Output::dtype() const { return BaseType(node->output_types[index]); }
bool Output::is_ref() const { return IsRef(node->output_types[index]); }
const PartialShape& Output::shape() const { return node->output_shapes[index]; }
std::string Output::name() const { return absl::StrCat(node->name(), ":", index); }
Graph& Output::graph() const { return *node->graph; }

const std::string& Operation::name() const { return node->name(); }
int Operation::num_outputs() const { return static_cast<int>(node->output_types.size()); }
Graph& Operation::graph() const { return *node->graph; }

Graph::Graph() : state_(std::make_unique<State>()) {}
Graph::~Graph() = default;
Graph::Graph(Graph&& other) noexcept : state_(std::move(other.state_)) {
  for (auto& node : state_->nodes) node->graph = this;
}
Graph& Graph::operator=(Graph&& other) noexcept {
  state_ = std::move(other.state_);
  for (auto& node : state_->nodes) node->graph = this;
  return *this;
}

Operation Graph::AddNode(const NodeSpec& spec) { return ValueOrThrow(TryAddNode(spec)); }

StatusOr<Operation> Graph::TryAddNode(const NodeSpec& spec) {
  State& state = *state_;
  const Op* op = FindOp(spec.op);
  if (op == nullptr) return NotFound("Op type not registered '", spec.op, "'");
  for (const Output& input : spec.inputs) {
    if (!input.is_valid()) return InvalidArgument("an input of the new ", spec.op, " node '", spec.name, "' is not set");
    if (&input.graph() != this) return InvalidArgument("input ", input.name(), " of the new ", spec.op, " node belongs to another graph");
  }
  auto node = std::make_unique<Node>();
  node->id = static_cast<int>(state.nodes.size());
  node->graph = this;
  node->op = op;
  node->def.set_op(spec.op);
  for (const NamedAttr& attr : spec.attrs) AttrToProto(attr.value, &(*node->def.mutable_attr())[attr.name]);

  const std::string wish = spec.name.empty() ? spec.op : spec.name;
  RETURN_IF_ERROR(CheckName(wish));
  auto annotate = [&](const Status& status) { return Annotate(status, absl::StrCat("node '", state.name_prefix, wish, "' (op: ", spec.op, ")")); };
  node->inputs = spec.inputs;
  RETURN_IF_ERROR(annotate(InferAttrsFromInputs(op->def, spec.inputs, &node->def)));
  RETURN_IF_ERROR(annotate(CompleteAttrs(op->def, &node->def)));
  RETURN_IF_ERROR(annotate(ComputeTypes(op->def, node->def, &node->input_types, &node->output_types)));
  RETURN_IF_ERROR(annotate(CheckInputTypes(*node)));

  for (const auto& scope : state.control_scopes) {
    for (const Operation& operation : scope) node->control_inputs.push_back(operation.node);
  }
  for (const Operation& operation : spec.control_inputs) node->control_inputs.push_back(operation.node);
  std::vector<Node*> unique;
  for (Node* control : node->control_inputs) {
    if (std::find(unique.begin(), unique.end(), control) == unique.end()) unique.push_back(control);
  }
  node->control_inputs = std::move(unique);

  node->def.set_name(UniqueName(wish));
  std::string device = spec.device;
  if (!state.colocations.empty()) {
    auto* classes = (*node->def.mutable_attr())["_class"].mutable_list();
    const Node& with = *state.colocations.back().node;
    auto given = with.def.attr().find("_class");
    if (given != with.def.attr().end()) {
      for (const std::string& label : given->second.list().s()) classes->add_s(label);
    } else {
      classes->add_s(absl::StrCat("loc:@", with.name()));
    }
    device = MergeDevices(with.device, device);
  } else {
    for (auto function = state.devices.rbegin(); function != state.devices.rend(); ++function) device = (*function)(*node, device);
  }
  node->device = device;
  RETURN_IF_ERROR(annotate(InferShapes(node.get())));

  Node* made = node.get();
  state.by_name.emplace(made->name(), made);
  state.nodes.push_back(std::move(node));
  ++state.last_id;
  return Operation(made);
}

Node* Graph::FindNode(absl::string_view name) const {
  auto found = state_->by_name.find(name);
  return found == state_->by_name.end() ? nullptr : found->second;
}

StatusOr<Output> Graph::FindOutput(absl::string_view name) const {
  const size_t colon = name.rfind(':');
  int index = 0;
  absl::string_view node_name = name;
  if (colon != absl::string_view::npos) {
    if (!absl::SimpleAtoi(name.substr(colon + 1), &index) || index < 0) return InvalidArgument("'", name, "' is not the name of a tensor");
    node_name = name.substr(0, colon);
  }
  Node* node = FindNode(node_name);
  if (node == nullptr) return NotFound("there is no node '", node_name, "' in the graph");
  if (index >= static_cast<int>(node->output_types.size())) {
    return InvalidArgument("node '", node_name, "' has only ", node->output_types.size(), " outputs, output ", index, " was asked for");
  }
  return Output(node, index);
}

const std::vector<std::unique_ptr<Node>>& Graph::nodes() const { return state_->nodes; }

std::string Graph::ToGraphDef() const {
  tensorflow::GraphDef def;
  ExportGraph(*this, 0, &def);
  return def.SerializeAsString();
}

void Graph::ImportGraphDef(absl::string_view serialized, absl::string_view prefix) {
  tensorflow::GraphDef def;
  if (!def.ParseFromArray(serialized.data(), static_cast<int>(serialized.size()))) {
    throw Error(InvalidArgument("the ", serialized.size(), " bytes are not a GraphDef"));
  }
  ThrowIfError(ImportGraph(def, {.prefix = std::string(prefix)}, this));
}

std::string Graph::UniqueName(absl::string_view wish) {
  const std::string full = absl::StrCat(state_->name_prefix, wish);
  auto is_taken = [this](const std::string& name) { return state_->name_counts.contains(absl::AsciiStrToLower(name)) || state_->by_name.contains(name); };
  std::string name = full;
  if (is_taken(full)) {
    // The count is where to go on looking, so that a thousand nodes of one name do not take a million looks.
    int& next = state_->name_counts[absl::AsciiStrToLower(full)];
    do {
      name = absl::StrCat(full, "_", std::max(next, 1));
      next = std::max(next, 1) + 1;
    } while (is_taken(name));
  }
  state_->name_counts.try_emplace(absl::AsciiStrToLower(name), 1);
  return name;
}

void Graph::AddToCollection(const std::string& collection, const Output& output) { state_->collections[collection].push_back(output); }

std::vector<Output> Graph::Collection(const std::string& collection) const {
  auto found = state_->collections.find(collection);
  return found == state_->collections.end() ? std::vector<Output>() : found->second;
}

void Graph::set_seed(int64_t seed) { state_->seed = seed; }
int64_t Graph::seed() const { return state_->seed; }
int64_t Graph::last_id() const { return state_->last_id; }

NameScope::NameScope(Graph& graph, absl::string_view name) : graph_(graph), saved_(graph.state().name_prefix) {
  prefix_ = absl::StrCat(graph.UniqueName(name), "/");
  graph_.state().name_prefix = prefix_;
}
NameScope::~NameScope() { graph_.state().name_prefix = saved_; }

DeviceScope::DeviceScope(Graph& graph, std::string device)
    : DeviceScope(graph, [device = std::move(device)](const Node&, const std::string& inner) { return MergeDevices(device, inner); }) {}
DeviceScope::DeviceScope(Graph& graph, DeviceFunction function) : graph_(graph) { graph_.state().devices.push_back(std::move(function)); }
DeviceScope::~DeviceScope() { graph_.state().devices.pop_back(); }

ControlDependencies::ControlDependencies(Graph& graph, std::vector<Operation> operations) : graph_(graph) {
  graph_.state().control_scopes.push_back(std::move(operations));
}
ControlDependencies::~ControlDependencies() { graph_.state().control_scopes.pop_back(); }

ColocateWith::ColocateWith(Graph& graph, Operation operation) : graph_(graph) { graph_.state().colocations.push_back(operation); }
ColocateWith::~ColocateWith() { graph_.state().colocations.pop_back(); }

}  // namespace tandem
