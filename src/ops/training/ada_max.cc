// AdaMax: Adam with the largest past gradient, slowly forgotten, in place of the mean square.
#include <algorithm>
#include <cmath>

#include "ops/training/optimizer.h"

namespace tandem {
namespace {

template <typename C>
struct AdaMax {
  static constexpr int kSlots = 2;
  AdaMax(const OptimizerFlags&, const C* scalars) : step(scalars[1] / (1 - scalars[0])), beta1(scalars[2]), beta2(scalars[3]), epsilon(scalars[4]) {}

  void Update(C& var, C* slot, C grad) const {
    C &m = slot[0], &v = slot[1];
    m += (grad - m) * (1 - beta1);
    v = std::max(beta2 * v, std::abs(grad));
    var -= step * (m / (v + epsilon));
  }

  const C step;  // lr / (1 - beta1_power)
  const C beta1, beta2, epsilon;
};

const Optimizer<AdaMax> kAdaMax({
    .name = "AdaMax",
    .variables = {"var", "m", "v"},
    .inputs = {"beta1_power", "lr", "beta1", "beta2", "epsilon", "grad"},
    .forms = {"Apply", "ResourceApply"},
});

}  // namespace
}  // namespace tandem
