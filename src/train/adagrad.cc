#include "tandem/optimizer.h"
#include "train/apply.h"

namespace tandem {

Operation Adagrad::Apply(const Variable& variable, const Output& gradient) {
  Variable accumulator = Slot(variable, "accumulator", "Adagrad", initial_accumulator_);
  return ApplyNode("Adagrad", variable).In(accumulator.handle()).In(Number(variable, learning_rate_, "learning_rate")).In(gradient).Build();
}

}  // namespace tandem
