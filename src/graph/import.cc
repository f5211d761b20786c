#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "graph/graph_state.h"
#include "graph/infer_node.h"

namespace tandem {
namespace {

std::string Suffix(absl::string_view node_name) { return absl::StrCat("\n\t [[{{node ", node_name, "}}]]"); }

bool IsNameStart(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.'; }
bool IsNamePart(char c) { return IsNameStart(c) || c == '_' || c == '/' || c == '-'; }

// Pieces of [A-Za-z0-9.][A-Za-z0-9_./-]*, separated by '>'; with internal names a piece may also begin with '_'.
bool IsNodeName(absl::string_view name, bool allow_internal) {
  if (name.empty()) return false;
  for (absl::string_view piece : absl::StrSplit(name, '>')) {
    if (piece.empty() || !(IsNameStart(piece[0]) || (allow_internal && piece[0] == '_'))) return false;
    if (!std::all_of(piece.begin(), piece.end(), IsNamePart)) return false;
  }
  return true;
}

// One entry of NodeDef.input.
struct InputName {
  absl::string_view node;
  int index = 0;
  bool is_control = false;
};

bool ParseInput(absl::string_view text, InputName* input) {
  if (absl::ConsumePrefix(&text, "^")) {
    *input = {text, 0, true};
    return IsNodeName(text, true);
  }
  *input = {text, 0, false};
  size_t colon = text.rfind(':');
  if (colon != absl::string_view::npos) {
    absl::string_view digits = text.substr(colon + 1);
    if (digits.empty() || !std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit) || !absl::SimpleAtoi(digits, &input->index)) return false;
    input->node = text.substr(0, colon);
  }
  return IsNodeName(input->node, true);
}

Status CheckNodeSyntax(const tensorflow::NodeDef& def, bool allow_internal) {
  if (!IsNodeName(def.name(), allow_internal)) return InvalidArgument("Illegal op name '", def.name(), "'", Suffix(def.name()));
  bool in_control = false;
  for (const std::string& text : def.input()) {
    InputName input;
    if (!ParseInput(text, &input)) return InvalidArgument("Illegal op input name '", text, "'", Suffix(def.name()));
    if (!input.is_control && in_control) return InvalidArgument("All control inputs must follow all data inputs", Suffix(def.name()));
    in_control = input.is_control;
  }
  if (!allow_internal && !def.op().empty() && def.op()[0] == '_') return InvalidArgument("Illegal op type '", def.op(), "'", Suffix(def.name()));
  return OkStatus();
}

Status CheckVersions(const tensorflow::VersionDef& versions) {
  if (versions.min_consumer() > kGraphVersion) {
    return InvalidArgument("GraphDef min consumer version ", versions.min_consumer(), " above current version ", kGraphVersion, " for Tandem.  Please upgrade Tandem.");
  }
  for (int bad : versions.bad_consumers()) {
    if (bad == kGraphVersion) return InvalidArgument("GraphDef disallows consumer version ", bad, ".  Please upgrade Tandem: this version is likely buggy.");
  }
  return OkStatus();
}

ArgDef ArgFromProto(const tensorflow::OpDef::ArgDef& proto) {
  ArgDef arg;
  arg.name = proto.name();
  arg.type = static_cast<DataType>(proto.type());
  arg.type_attr = proto.type_attr();
  arg.number_attr = proto.number_attr();
  arg.type_list_attr = proto.type_list_attr();
  arg.is_ref = proto.is_ref();
  return arg;
}

// What a call of a library function takes and gives. It has no kernel of its own.
OpDef OpDefOfFunction(const tensorflow::FunctionDef& function) {
  OpDef def;
  def.name = function.signature().name();
  for (const auto& arg : function.signature().input_arg()) def.inputs.push_back(ArgFromProto(arg));
  for (const auto& arg : function.signature().output_arg()) def.outputs.push_back(ArgFromProto(arg));
  return def;
}

class Importer {
 public:
  Importer(const tensorflow::GraphDef& def, const ImportOptions& options, Graph* graph) : def_(def), options_(options), graph_(graph), state_(graph->state()) {
    prefix_ = options.prefix;
    if (!prefix_.empty() && prefix_.back() != '/') prefix_ += '/';
  }

  Status Run() {
    RETURN_IF_ERROR(CheckVersions(def_.versions()));
    RETURN_IF_ERROR(CheckGraphSyntax(def_, options_.allow_internal_names));
    RETURN_IF_ERROR(CheckLibrary());
    RETURN_IF_ERROR(MakeNodes());
    for (size_t i = 0; i < made_.size(); ++i) RETURN_IF_ERROR(Connect(def_.node(static_cast<int>(i)), made_[i].get()));
    return Commit();
  }

 private:
  Status CheckLibrary() {
    for (const tensorflow::FunctionDef& function : state_.library.function()) functions_.emplace(function.signature().name(), &function);
    for (const tensorflow::FunctionDef& function : def_.library().function()) {
      auto [found, is_new] = functions_.emplace(function.signature().name(), &function);
      if (is_new) {
        new_functions_.push_back(&function);
      } else if (!SameFunction(*found->second, function)) {
        return InvalidArgument("Cannot add function '", function.signature().name(), "' because a different function with the same name already exists.");
      }
    }
    return OkStatus();
  }

  static bool SameFunction(const tensorflow::FunctionDef& a, const tensorflow::FunctionDef& b) {
    // Maps have no order on the wire: lengths and nodes tell different functions apart without sorting them.
    if (&a == &b) return true;
    if (a.ByteSizeLong() != b.ByteSizeLong() || a.node_def_size() != b.node_def_size()) return false;
    for (int i = 0; i < a.node_def_size(); ++i) {
      if (a.node_def(i).name() != b.node_def(i).name() || a.node_def(i).op() != b.node_def(i).op()) return false;
    }
    return true;
  }

  Status MakeNodes() {
    made_.reserve(def_.node_size());
    for (const tensorflow::NodeDef& def : def_.node()) {
      auto node = std::make_unique<Node>();
      node->graph = graph_;
      node->def = def;
      node->def.set_name(absl::StrCat(prefix_, def.name()));
      node->device = def.device();
      if (!prefix_.empty()) PrefixColocations(&node->def);
      if (state_.by_name.contains(node->name()) || !new_by_name_.emplace(def.name(), node.get()).second) {
        return InvalidArgument("Node '", node->name(), "' is not unique");
      }
      RETURN_IF_ERROR(SetTypes(node.get()));
      made_.push_back(std::move(node));
    }
    return OkStatus();
  }

  Status SetTypes(Node* node) {
    node->op = FindOp(node->op_name());
    if (node->op != nullptr) {
      RETURN_IF_ERROR(CompleteAttrs(node->op->def, &node->def));
      RETURN_IF_ERROR(ComputeTypes(node->op->def, node->def, &node->input_types, &node->output_types));
    } else if (auto function = functions_.find(node->op_name()); function != functions_.end()) {
      RETURN_IF_ERROR(ComputeTypes(OpDefOfFunction(*function->second), node->def, &node->input_types, &node->output_types));
    } else if (!options_.keep_unknown_ops) {
      return NotFound("Op type not registered '", node->op_name(), "'. It is none of the ops that Tandem has, and the graph's library has no function of that name.",
                      Suffix(node->name()));
    }
    node->output_shapes.resize(node->output_types.size());
    return OkStatus();
  }

  // "loc:@x" names a node of the imported graph.
  void PrefixColocations(tensorflow::NodeDef* def) {
    auto found = def->mutable_attr()->find("_class");
    if (found == def->mutable_attr()->end()) return;
    for (std::string& entry : *found->second.mutable_list()->mutable_s()) {
      absl::string_view name = entry;
      if (absl::ConsumePrefix(&name, "loc:@")) entry = absl::StrCat("loc:@", prefix_, name);
    }
  }

  bool is_typed(const Node& node) const { return node.op != nullptr || functions_.contains(node.op_name()); }

  Node* Find(absl::string_view name) const {
    auto found = new_by_name_.find(name);
    if (found != new_by_name_.end()) return found->second;
    if (!prefix_.empty()) return nullptr;
    auto old = state_.by_name.find(name);
    return old == state_.by_name.end() ? nullptr : old->second;
  }

  Status Connect(const tensorflow::NodeDef& def, Node* node) {
    int data_inputs = 0;
    for (const std::string& text : def.input()) data_inputs += text.empty() || text[0] != '^';
    if (is_typed(*node) && data_inputs > static_cast<int>(node->input_types.size())) {
      return InvalidArgument("Input ", node->input_types.size(), " of node ", node->name(), " does not exist. Node only has ", node->input_types.size(), " inputs.");
    }
    absl::flat_hash_set<const Node*> controls;
    for (const std::string& text : def.input()) {
      InputName input;
      ParseInput(text, &input);
      Node* from = Find(input.node);
      if (from == nullptr) return InvalidArgument("Node '", node->name(), "': Unknown input node '", text, "'");
      if (!input.is_control) {
        RETURN_IF_ERROR(ConnectData(from, input.index, node));
      } else if (controls.insert(from).second) {
        node->control_inputs.push_back(from);
      }
    }
    if (is_typed(*node) && data_inputs < static_cast<int>(node->input_types.size())) {
      return InvalidArgument("Node '", node->name(), "' of op ", node->op_name(), " needs ", node->input_types.size(), " inputs, but has ", data_inputs, Suffix(node->name()));
    }
    return OkStatus();
  }

  Status ConnectData(Node* from, int output, Node* node) {
    if (!is_typed(*from)) {
      // Of such a node nobody knows what it gives; consumers are believed.
      constexpr int kMaxUnknownOutputs = 1 << 12;
      if (output >= kMaxUnknownOutputs) return InvalidArgument("Node '", node->name(), "': output ", output, " of '", from->name(), "' does not exist");
      if (output >= static_cast<int>(from->output_types.size())) {
        from->output_types.resize(output + 1, kInvalid);
        from->output_shapes.resize(output + 1);
      }
    } else if (output >= static_cast<int>(from->output_types.size())) {
      return InvalidArgument("Node '", node->name(), "': Connecting to invalid output ", output, " of source node ", from->name(), " which has ",
                             from->output_types.size(), " outputs.");
    }
    DataType given = from->output_types[output];
    size_t at = node->inputs.size();
    if (!is_typed(*node)) {
      node->input_types.push_back(BaseType(given));
    } else {
      DataType expected = node->input_types[at];
      bool fits = given == kInvalid || given == expected || (IsRef(given) && BaseType(given) == expected);
      if (!fits) {
        return InvalidArgument("Input ", at, " of node ", node->name(), " was passed ", DataTypeName(given), " from ", from->name(), ":", output,
                               " incompatible with expected ", DataTypeName(expected), ".");
      }
    }
    node->inputs.push_back(tandem::Output(from, output));
    return OkStatus();
  }

  Status Commit() {
    std::vector<Node*> nodes;
    nodes.reserve(made_.size());
    for (const std::unique_ptr<Node>& node : made_) nodes.push_back(node.get());
    ASSIGN_OR_RETURN(std::vector<Node*> order, TopologicalOrder(nodes));
    // From here on nothing fails.
    for (std::unique_ptr<Node>& node : made_) (void)node.release();  // owned again below
    state_.nodes.reserve(state_.nodes.size() + order.size());
    for (Node* node : order) {
      node->id = static_cast<int>(state_.nodes.size());
      state_.nodes.emplace_back(node);
      state_.by_name.emplace(node->name(), node);
      ReserveName(node->name());
      // Shapes are hints here; what does not fit is reported where it runs.
      if (!InferShapes(node).ok()) node->output_shapes.assign(node->output_types.size(), PartialShape());
    }
    state_.last_id += static_cast<int64_t>(order.size());
    for (const tensorflow::FunctionDef* function : new_functions_) *state_.library.add_function() = *function;
    for (const tensorflow::GradientDef& gradient : def_.library().gradient()) AddGradient(gradient);
    int producer = def_.versions().producer();
    if (state_.producer_version == 0 || (producer != 0 && producer < state_.producer_version)) state_.producer_version = producer;
    return OkStatus();
  }

  // The builder must not use this name again, nor those of the scopes that it is in.
  void ReserveName(const std::string& name) {
    std::string lower = absl::AsciiStrToLower(name);
    state_.name_counts.try_emplace(lower, 1);
    for (size_t slash = lower.rfind('/'); slash != std::string::npos && slash > 0; slash = lower.rfind('/', slash - 1)) {
      if (!state_.name_counts.try_emplace(lower.substr(0, slash), 1).second) break;
    }
  }

  void AddGradient(const tensorflow::GradientDef& gradient) {
    for (const tensorflow::GradientDef& known : state_.library.gradient()) {
      if (known.function_name() == gradient.function_name()) return;
    }
    *state_.library.add_gradient() = gradient;
  }

  const tensorflow::GraphDef& def_;
  const ImportOptions& options_;
  Graph* const graph_;
  Graph::State& state_;
  std::string prefix_;
  std::vector<std::unique_ptr<Node>> made_;                       // in the order of def_
  absl::flat_hash_map<absl::string_view, Node*> new_by_name_;     // without the prefix
  absl::flat_hash_map<std::string, const tensorflow::FunctionDef*> functions_;
  std::vector<const tensorflow::FunctionDef*> new_functions_;
};

}  // namespace

Status CheckGraphSyntax(const tensorflow::GraphDef& def, bool allow_internal_names) {
  for (const tensorflow::NodeDef& node : def.node()) RETURN_IF_ERROR(CheckNodeSyntax(node, allow_internal_names));
  return OkStatus();
}

Status ImportGraph(const tensorflow::GraphDef& def, const ImportOptions& options, Graph* graph) {
  return Importer(def, options, graph).Run();
}

}  // namespace tandem
