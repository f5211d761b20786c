#include "tandem/variable.h"

#include "client/node_builder.h"
#include "client/local_mark.h"
#include "client/scopes.h"
#include "core/status.h"
#include "graph/node.h"
#include "tandem/error.h"
#include "tandem/ops.h"

namespace tandem {
namespace {

Output ReadOf(const Output& handle, DataType dtype, const char* name) {
  if (handle.is_ref()) return NodeBuilder("Identity", name).In(handle).With(handle).Build().output();
  Output read = NodeBuilder("ReadVariableOp", name).In(handle).Set("dtype", dtype).With(handle).Build().output();
  // The shape of what a handle stands for is not part of the graph's own shapes, but the variable knows it.
  read.node->output_shapes[0] = handle.node->attrs().GetShape("shape");
  return read;
}

Operation Update(const char* ref_op, const char* resource_op, const Output& handle, const Output& value, absl::string_view name) {
  if (handle.is_ref()) return NodeBuilder(ref_op, name).In(handle).In(value).With(handle).Build();
  return NodeBuilder(resource_op, name).In(handle).In(value).With(handle).Build();
}

Output OutputUnder(const Output& handle, const char* child) {
  Node* node = handle.graph().FindNode(handle.node->name() + child);
  return node == nullptr ? Output() : Output(node, 0);
}

}  // namespace

Variable::Variable(Graph& graph, const Output& initial_value, absl::string_view name, const VariableOptions& options) : initial_value_(initial_value) {
  if (!initial_value.is_valid()) throw Error(InvalidArgument("the initial value of variable '", name, "' is not set"));
  if (!initial_value.shape().is_fully_known()) {
    throw Error(InvalidArgument("the initial value of variable '", name, "' has shape ", initial_value.shape().ToString(), ": every size must be known"));
  }
  NoControlDependencies no_dependencies(graph);
  const DataType dtype = initial_value.dtype();
  NodeBuilder node(options.use_resource ? "VarHandleOp" : "VariableV2", name);
  node.Set("dtype", dtype).Set("shape", initial_value.shape());
  if (options.is_local) node.Set(kLocalMark, true);
  handle_ = node.Build(graph).output();
  // Tasks share a resource by this name; a VariableV2 without one is shared by its node's name.
  if (options.use_resource) (*handle_.node->def.mutable_attr())["shared_name"].set_s(this->name());
  NamesUnder scope(graph, this->name());
  initializer_ = Update("Assign", "AssignVariableOp", handle_, initial_value, "Assign");
  value_ = ReadOf(handle_, dtype, options.use_resource ? "Read/ReadVariableOp" : "read");
  graph.AddToCollection(options.is_local ? kLocalVariables : kGlobalVariables, handle_);
  if (options.trainable && !options.is_local) graph.AddToCollection(kTrainableVariables, handle_);
}

Variable Variable::FromHandle(const Output& handle) {
  if (!handle.is_valid() || (!handle.is_ref() && handle.dtype() != kResource)) {
    throw Error(InvalidArgument(handle.is_valid() ? handle.name() : "an invalid output", " is not the handle of a variable"));
  }
  Variable variable;
  variable.handle_ = handle;
  variable.value_ = OutputUnder(handle, handle.is_ref() ? "/read" : "/Read/ReadVariableOp");
  Output assign = OutputUnder(handle, "/Assign");
  if (assign.is_valid()) {
    variable.initializer_ = Operation(assign.node);
    if (assign.node->inputs.size() == 2) variable.initial_value_ = assign.node->inputs[1];
  }
  if (!variable.value_.is_valid()) {
    NoControlDependencies no_dependencies(handle.graph());
    NamesUnder scope(handle.graph(), handle.node->name());
    variable.value_ = ReadOf(handle, variable.dtype(), handle.is_ref() ? "read" : "Read/ReadVariableOp");
  }
  return variable;
}

std::vector<Variable> Variable::Collection(const Graph& graph, const std::string& collection) {
  std::vector<Variable> variables;
  for (const Output& handle : graph.Collection(collection)) variables.push_back(FromHandle(handle));
  return variables;
}

const std::string& Variable::name() const { return handle_.node->name(); }
DataType Variable::dtype() const { return handle_.is_ref() ? handle_.dtype() : handle_.node->attrs().GetType("dtype"); }
PartialShape Variable::shape() const { return handle_.node->attrs().GetShape("shape"); }
bool Variable::is_resource() const { return !handle_.is_ref(); }
Graph& Variable::graph() const { return handle_.graph(); }

Output Variable::Read() const {
  NamesUnder scope(graph(), name());
  return ReadOf(handle_, dtype(), is_resource() ? "ReadVariableOp" : "read");
}

Output Variable::IsInitialized() const {
  NamesUnder scope(graph(), name());
  if (is_resource()) return NodeBuilder("VarIsInitializedOp", "IsInitialized").In(handle_).With(handle_).Build().output();
  return NodeBuilder("IsVariableInitialized", "IsInitialized").In(handle_).With(handle_).Build().output();
}

Operation Variable::Assign(const Output& value) const { return Update("Assign", "AssignVariableOp", handle_, value, name() + "/assign"); }
Operation Variable::AssignAdd(const Output& delta) const { return Update("AssignAdd", "AssignAddVariableOp", handle_, delta, name() + "/assign_add"); }
Operation Variable::AssignSub(const Output& delta) const { return Update("AssignSub", "AssignSubVariableOp", handle_, delta, name() + "/assign_sub"); }

Variable GlobalStep(Graph& graph) {
  for (const Output& handle : graph.Collection(kGlobalStep)) return Variable::FromHandle(handle);
  // A graph that was imported has the node but no collections.
  if (Node* node = graph.FindNode("global_step"); node != nullptr) return Variable::FromHandle(Output(node, 0));
  RootNames root(graph);
  Variable step(graph, Zeros(graph, {}, kInt64, "global_step/Initializer/zeros"), "global_step", {.trainable = false});
  graph.AddToCollection(kGlobalStep, step.handle());
  return step;
}

namespace {

Operation InitializerOf(Graph& graph, const char* collection, absl::string_view name) {
  std::vector<Operation> initializers;
  for (const Variable& variable : Variable::Collection(graph, collection)) {
    if (variable.initializer().is_valid()) initializers.push_back(variable.initializer());
  }
  return Group(graph, initializers, name);
}

}  // namespace

Operation GlobalVariablesInitializer(Graph& graph, absl::string_view name) { return InitializerOf(graph, kGlobalVariables, name); }
Operation LocalVariablesInitializer(Graph& graph, absl::string_view name) { return InitializerOf(graph, kLocalVariables, name); }

Output ReportUninitializedVariables(Graph& graph, const std::vector<Variable>& variables, absl::string_view name) {
  if (variables.empty()) return Const(graph, Tensor(kString, Shape{0}), name);
  NameScope scope(graph, name);
  OutputList are_initialized;
  std::vector<std::string> names;
  for (const Variable& variable : variables) {
    are_initialized.push_back(variable.IsInitialized());
    names.push_back(variable.name());
  }
  // The flags travel here one by one; the rest is small enough for wherever this runs.
  Output missing = NodeBuilder("LogicalNot", "").In(Stack(are_initialized)).Build().output();
  Output where = NodeBuilder("Where", "").In(missing).Build().output();
  Output indices = Reshape(where, {-1}, "indices");
  return Gather(Const(graph, Tensor(names), "names"), indices, 0, "names_of_missing");
}

}  // namespace tandem
