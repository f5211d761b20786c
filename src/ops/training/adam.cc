// Adam: moving averages m of the gradient and v of its square, corrected for their start at zero. AMSGrad never lets v fall.
#include <algorithm>
#include <cmath>

#include "ops/training/optimizer.h"

namespace tandem {
namespace {

template <typename C>
struct Adam {
  static constexpr int kSlots = 2;
  Adam(const OptimizerFlags& flags, const C* scalars)
      : step(scalars[2] * std::sqrt(1 - scalars[1]) / (1 - scalars[0])),
        beta1(scalars[3]),
        beta2(scalars[4]),
        epsilon(scalars[5]),
        use_nesterov(flags.use_nesterov) {}

  void Update(C& var, C* slot, C grad) const {
    C &m = slot[0], &v = slot[1];
    m += (grad - m) * (1 - beta1);
    v += (grad * grad - v) * (1 - beta2);
    const C mean = use_nesterov ? grad * (1 - beta1) + beta1 * m : m;
    var -= mean * step / (std::sqrt(v) + epsilon);
  }

  const C step;  // lr * sqrt(1 - beta2_power) / (1 - beta1_power)
  const C beta1, beta2, epsilon;
  const bool use_nesterov;
};

const Optimizer<Adam> kAdam({
    .name = "Adam",
    .variables = {"var", "m", "v"},
    .inputs = {"beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon", "grad"},
    .attrs = {"use_nesterov: bool = false"},
    .forms = {"Apply", "ResourceApply"},
});

template <typename C>
struct AdamWithAmsgrad {
  static constexpr int kSlots = 3;
  AdamWithAmsgrad(const OptimizerFlags&, const C* scalars)
      : step(scalars[2] * std::sqrt(1 - scalars[1]) / (1 - scalars[0])), beta1(scalars[3]), beta2(scalars[4]), epsilon(scalars[5]) {}

  void Update(C& var, C* slot, C grad) const {
    C &m = slot[0], &v = slot[1], &vhat = slot[2];
    m += (grad - m) * (1 - beta1);
    v += (grad * grad - v) * (1 - beta2);
    vhat = std::max(vhat, v);
    var -= m * step / (std::sqrt(vhat) + epsilon);
  }

  const C step, beta1, beta2, epsilon;
};

const Optimizer<AdamWithAmsgrad> kAdamWithAmsgrad({
    .name = "AdamWithAmsgrad",
    .variables = {"var", "m", "v", "vhat"},
    .inputs = {"beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon", "grad"},
    .forms = {"ResourceApply"},
});

}  // namespace
}  // namespace tandem
