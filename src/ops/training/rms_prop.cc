// RMSProp: momentum on gradients that are divided by their root mean square; centered: by their standard deviation.
#include <cmath>

#include "ops/training/optimizer.h"

namespace tandem {
namespace {

template <typename C>
struct RmsProp {
  static constexpr int kSlots = 2;
  RmsProp(const OptimizerFlags&, const C* scalars) : lr(scalars[0]), rho(scalars[1]), momentum(scalars[2]), epsilon(scalars[3]) {}

  void Update(C& var, C* slot, C grad) const {
    C &ms = slot[0], &mom = slot[1];
    ms += (grad * grad - ms) * (1 - rho);
    mom = momentum * mom + lr * grad / std::sqrt(ms + epsilon);
    var -= mom;
  }

  const C lr, rho, momentum, epsilon;
};

const Optimizer<RmsProp> kRmsProp({
    .name = "RMSProp",
    .variables = {"var", "ms", "mom"},
    .inputs = {"lr", "rho", "momentum", "epsilon", "grad"},
});

template <typename C>
struct CenteredRmsProp {
  static constexpr int kSlots = 3;
  CenteredRmsProp(const OptimizerFlags&, const C* scalars) : lr(scalars[0]), rho(scalars[1]), momentum(scalars[2]), epsilon(scalars[3]) {}

  void Update(C& var, C* slot, C grad) const {
    C &mg = slot[0], &ms = slot[1], &mom = slot[2];
    ms += (grad * grad - ms) * (1 - rho);
    mg += (grad - mg) * (1 - rho);
    mom = momentum * mom + lr * grad / std::sqrt(ms - mg * mg + epsilon);
    var -= mom;
  }

  const C lr, rho, momentum, epsilon;
};

const Optimizer<CenteredRmsProp> kCenteredRmsProp({
    .name = "CenteredRMSProp",
    .variables = {"var", "mg", "ms", "mom"},
    .inputs = {"lr", "rho", "momentum", "epsilon", "grad"},
});

}  // namespace
}  // namespace tandem
