// Adadelta: steps in proportion to the root mean square of past steps over that of past gradients.
#include <cmath>

#include "ops/training/optimizer.h"

namespace tandem {
namespace {

template <typename C>
struct Adadelta {
  static constexpr int kSlots = 2;
  Adadelta(const OptimizerFlags&, const C* scalars) : lr(scalars[0]), rho(scalars[1]), epsilon(scalars[2]) {}

  void Update(C& var, C* slot, C grad) const {
    C &accum = slot[0], &accum_update = slot[1];
    accum = rho * accum + (1 - rho) * grad * grad;
    const C update = std::sqrt(accum_update + epsilon) / std::sqrt(accum + epsilon) * grad;
    accum_update = rho * accum_update + (1 - rho) * update * update;
    var -= lr * update;
  }

  const C lr, rho, epsilon;
};

const Optimizer<Adadelta> kAdadelta({
    .name = "Adadelta",
    .variables = {"var", "accum", "accum_update"},
    .inputs = {"lr", "rho", "epsilon", "grad"},
});

}  // namespace
}  // namespace tandem
