#include "tandem/optimizer.h"
#include "train/apply.h"

namespace tandem {

Operation RMSProp::Apply(const Variable& variable, const Output& gradient) {
  Variable mean_square = Slot(variable, "rms", "RMSProp", 1);
  Variable momentum = Slot(variable, "momentum", "RMSProp_1", 0);
  return ApplyNode("RMSProp", variable)
      .In(mean_square.handle())
      .In(momentum.handle())
      .In(Number(variable, options_.learning_rate, "learning_rate"))
      .In(Number(variable, options_.decay, "decay"))
      .In(Number(variable, options_.momentum, "momentum"))
      .In(Number(variable, options_.epsilon, "epsilon"))
      .In(gradient)
      .Build();
}

}  // namespace tandem
