// Adagrad with dual averaging: the variable follows from the sums of all gradients and of their squares, and from how many there were.
#include <algorithm>
#include <cmath>

#include "ops/training/optimizer.h"

namespace tandem {
namespace {

template <typename C>
struct AdagradDA {
  static constexpr int kSlots = 2;
  AdagradDA(const OptimizerFlags&, const C* scalars) : lr(scalars[0]), l1(scalars[1]), l2(scalars[2]), step(scalars[3]) {}

  void Update(C& var, C* slot, C grad) const {
    C &sum = slot[0], &sum_of_squares = slot[1];
    sum += grad;
    sum_of_squares += grad * grad;
    const C denominator = l2 * step * lr + std::sqrt(sum_of_squares);
    const C shrunk = l1 > 0 ? std::copysign(std::max(std::abs(sum) - l1 * step, C(0)), sum) : sum;
    var = -shrunk * lr / denominator;
  }

  const C lr, l1, l2, step;
};

const Optimizer<AdagradDA> kAdagradDA({
    .name = "AdagradDA",
    .variables = {"var", "gradient_accumulator", "gradient_squared_accumulator"},
    .inputs = {"grad", "lr", "l1", "l2", "global_step"},
});

}  // namespace
}  // namespace tandem
