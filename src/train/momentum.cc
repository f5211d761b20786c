#include "tandem/optimizer.h"
#include "train/apply.h"

namespace tandem {

Operation Momentum::Apply(const Variable& variable, const Output& gradient) {
  Variable accumulator = Slot(variable, "momentum", "Momentum", 0);
  return ApplyNode("Momentum", variable)
      .In(accumulator.handle())
      .In(Number(variable, learning_rate_, "learning_rate"))
      .In(gradient)
      .In(Number(variable, momentum_, "momentum"))
      .Set("use_nesterov", use_nesterov_)
      .Build();
}

}  // namespace tandem
