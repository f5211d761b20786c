#include "tandem/ops.h"
#include "tandem/optimizer.h"
#include "train/apply.h"

namespace tandem {

// The powers βᵗ are variables, so that a restored job goes on with the right bias correction.
void Adam::Prepare(Graph& graph, const std::vector<Variable>& variables) {
  beta1_power_ = ScalarState(variables, "beta1_power", options_.beta1);
  beta2_power_ = ScalarState(variables, "beta2_power", options_.beta2);
}

Operation Adam::Apply(const Variable& variable, const Output& gradient) {
  Variable m = Slot(variable, "m", "Adam", 0);
  Variable v = Slot(variable, "v", "Adam_1", 0);
  return ApplyNode("Adam", variable)
      .In(m.handle())
      .In(v.handle())
      .In(Cast(beta1_power_, variable.dtype()))
      .In(Cast(beta2_power_, variable.dtype()))
      .In(Number(variable, options_.learning_rate, "learning_rate"))
      .In(Number(variable, options_.beta1, "beta1"))
      .In(Number(variable, options_.beta2, "beta2"))
      .In(Number(variable, options_.epsilon, "epsilon"))
      .In(gradient)
      .Build();
}

void Adam::Finish(Graph& graph, std::vector<Operation>* updates) {
  ControlDependencies after(graph, *updates);
  for (const auto& [power, beta] : {std::pair(beta1_power_, options_.beta1), std::pair(beta2_power_, options_.beta2)}) {
    ColocateWith with(graph, power.handle());
    updates->push_back(power.Assign(power.value() * beta));
  }
}

}  // namespace tandem
