// AddSign and PowerSign: a gradient counts more where its sign agrees with that of its moving average m.
#include <cmath>

#include "ops/training/optimizer.h"

namespace tandem {
namespace {

template <typename C>
C Sign(C x) {
  return C(x > 0) - C(x < 0);
}

template <typename C>
struct AddSign {
  static constexpr int kSlots = 1;
  AddSign(const OptimizerFlags&, const C* scalars) : lr(scalars[0]), alpha(scalars[1]), sign_decay(scalars[2]), beta(scalars[3]) {}

  void Update(C& var, C* slot, C grad) const {
    C& m = slot[0];
    m = m * beta + grad * (1 - beta);
    var -= lr * (alpha + sign_decay * Sign(grad) * Sign(m)) * grad;
  }

  const C lr, alpha, sign_decay, beta;
};

const Optimizer<AddSign> kAddSign({
    .name = "AddSign",
    .variables = {"var", "m"},
    .inputs = {"lr", "alpha", "sign_decay", "beta", "grad"},
    .forms = {"Apply", "ResourceApply"},
});

template <typename C>
struct PowerSign {
  static constexpr int kSlots = 1;
  PowerSign(const OptimizerFlags&, const C* scalars)
      : lr(scalars[0]), same(std::exp(scalars[1] * scalars[2])), other(std::exp(-scalars[1] * scalars[2])), beta(scalars[3]) {}

  void Update(C& var, C* slot, C grad) const {
    C& m = slot[0];
    m = m * beta + grad * (1 - beta);
    const C agreement = Sign(grad) * Sign(m);
    // exp(logbase * sign_decay * agreement) has three values only.
    var -= lr * (agreement > 0 ? same : agreement < 0 ? other : C(1)) * grad;
  }

  const C lr, same, other, beta;
};

const Optimizer<PowerSign> kPowerSign({
    .name = "PowerSign",
    .variables = {"var", "m"},
    .inputs = {"lr", "logbase", "sign_decay", "beta", "grad"},
    .forms = {"Apply", "ResourceApply"},
});

}  // namespace
}  // namespace tandem
