#include "tandem/optimizer.h"

#include <algorithm>

#include "client/node_builder.h"
#include "client/number.h"
#include "client/scopes.h"
#include "core/status.h"
#include "tandem/error.h"
#include "tandem/gradients.h"
#include "tandem/ops.h"

namespace tandem {

std::vector<GradientAndVariable> Optimizer::ComputeGradients(const Output& loss, const std::vector<Variable>& variables) {
  if (!loss.is_valid()) throw Error(InvalidArgument("the loss is not set"));
  const std::vector<Variable> chosen = variables.empty() ? Variable::Collection(loss.graph(), kTrainableVariables) : variables;
  if (chosen.empty()) throw Error(InvalidArgument("there are no variables to optimize"));
  OutputList handles;
  for (const Variable& variable : chosen) handles.push_back(variable.handle());
  const OutputList gradients = Gradients({loss}, handles);
  std::vector<GradientAndVariable> pairs;
  for (size_t i = 0; i < chosen.size(); ++i) pairs.push_back({gradients[i], chosen[i]});
  return pairs;
}

Operation Optimizer::ApplyGradients(const std::vector<GradientAndVariable>& gradients, const Variable& global_step) {
  std::vector<Variable> variables;
  std::vector<std::string> names;
  for (const GradientAndVariable& pair : gradients) {
    names.push_back(pair.variable.name());
    if (pair.gradient.is_valid()) variables.push_back(pair.variable);
  }
  if (variables.empty()) {
    std::string list;
    for (const std::string& name : names) absl::StrAppend(&list, list.empty() ? "" : ", ", name);
    throw Error(InvalidArgument("no gradients for any of the variables (", list, "): the loss does not depend on them"));
  }
  Graph& graph = variables[0].graph();
  Prepare(graph, variables);
  NameScope scope(graph, name_);
  std::vector<Operation> updates;
  for (const GradientAndVariable& pair : gradients) {
    if (!pair.gradient.is_valid()) continue;
    NameScope update(graph, absl::StrCat("update_", pair.variable.name()));
    updates.push_back(Apply(pair.variable, pair.gradient));
  }
  Finish(graph, &updates);
  // Counted where the counter lives, after all updates: no further node that would have to hear from every task.
  if (global_step.is_valid()) {
    ControlDependencies after(graph, updates);
    ColocateWith with(graph, global_step.handle());
    return global_step.AssignAdd(Const(graph, NumberTensor(1, global_step.dtype()), "value"));
  }
  ColocateWith with(graph, variables[0].handle());
  return Group(graph, updates, "train");
}

Operation Optimizer::Minimize(const Output& loss, const Variable& global_step, const std::vector<Variable>& variables) {
  return ApplyGradients(ComputeGradients(loss, variables), global_step);
}

Variable Optimizer::slot(const Variable& variable, const std::string& slot) const {
  auto found = slots_.find({variable.handle().node, slot});
  return found == slots_.end() ? Variable() : found->second;
}

Variable Optimizer::Slot(const Variable& variable, const std::string& slot, const std::string& suffix, float initial) {
  Variable& made = slots_[{variable.handle().node, slot}];
  if (made.is_valid()) return made;
  Graph& graph = variable.graph();
  RootNames root(graph);
  NoControlDependencies no_dependencies(graph);
  ColocateWith with(graph, variable.handle());
  const std::string name = absl::StrCat(variable.name(), "/", suffix);
  const Shape shape = variable.shape().ToShape();
  Output value = initial == 0 ? Zeros(graph, shape, variable.dtype(), name + "/Initializer/zeros")
                              : Fill(graph, shape, NumberTensor(initial, variable.dtype()), name + "/Initializer/fill");
  made = Variable(graph, value, name, {.trainable = false, .use_resource = variable.is_resource()});
  return made;
}

Variable Optimizer::ScalarState(const std::vector<Variable>& variables, const std::string& name, float initial) {
  Graph& graph = variables[0].graph();
  Variable& made = scalars_[{&graph, name}];
  if (made.is_valid()) return made;
  // The choice must not depend on the order in which gradients are given.
  const Variable& first = *std::min_element(variables.begin(), variables.end(), [](const Variable& a, const Variable& b) { return a.name() < b.name(); });
  RootNames root(graph);
  NoControlDependencies no_dependencies(graph);
  ColocateWith with(graph, first.handle());
  made = Variable(graph, Const(graph, NumberTensor(initial, first.dtype()), name + "/initial_value"), name, {.trainable = false, .use_resource = first.is_resource()});
  return made;
}

Output Optimizer::Number(const Variable& like, float value, const char* name) {
  ColocateWith with(like.graph(), like.handle());
  return Const(like.graph(), NumberTensor(value, like.dtype()), name);
}

}  // namespace tandem
