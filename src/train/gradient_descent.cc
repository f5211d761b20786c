#include "tandem/optimizer.h"
#include "train/apply.h"

namespace tandem {

Operation GradientDescent::Apply(const Variable& variable, const Output& gradient) {
  return ApplyNode("GradientDescent", variable).In(Number(variable, learning_rate_, "learning_rate")).In(gradient).Build();
}

}  // namespace tandem
