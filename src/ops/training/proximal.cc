// Proximal gradient steps: a step down the gradient, then the exact solution for the l1 and l2 penalties.
#include <algorithm>
#include <cmath>

#include "ops/training/optimizer.h"

namespace tandem {
namespace {

// The minimum over x of (x - target)^2 / 2 + lr * (l1 * |x| + l2 * x^2 / 2).
template <typename C>
C Proximal(C target, C lr, C l1, C l2) {
  const C shrunk = l1 > 0 ? std::copysign(std::max(std::abs(target) - lr * l1, C(0)), target) : target;
  return shrunk / (1 + lr * l2);
}

template <typename C>
struct ProximalGradientDescent {
  static constexpr int kSlots = 0;
  ProximalGradientDescent(const OptimizerFlags&, const C* scalars) : alpha(scalars[0]), l1(scalars[1]), l2(scalars[2]) {}

  void Update(C& var, C*, C delta) const { var = Proximal(var - alpha * delta, alpha, l1, l2); }

  const C alpha, l1, l2;
};

const Optimizer<ProximalGradientDescent> kProximalGradientDescent({
    .name = "ProximalGradientDescent",
    .variables = {"var"},
    .inputs = {"alpha", "l1", "l2", "delta"},
});

template <typename C>
struct ProximalAdagrad {
  static constexpr int kSlots = 1;
  ProximalAdagrad(const OptimizerFlags&, const C* scalars) : lr(scalars[0]), l1(scalars[1]), l2(scalars[2]) {}

  void Update(C& var, C* slot, C grad) const {
    C& accum = slot[0];
    accum += grad * grad;
    const C scaled_lr = lr / std::sqrt(accum);
    var = Proximal(var - grad * scaled_lr, scaled_lr, l1, l2);
  }

  const C lr, l1, l2;
};

Status CheckProximalAdagrad(const OptimizerFlags&, bool, absl::Span<const double> scalars) {
  if (!(scalars[0] > 0)) return InvalidArgument("lr is not a positive scalar: ", scalars[0]);
  if (!(scalars[1] >= 0)) return InvalidArgument("l1 regularization strength is not a non-negative scalar: ", scalars[1]);
  if (!(scalars[2] >= 0)) return InvalidArgument("l2 regularization strength is not a non-negative scalar: ", scalars[2]);
  return OkStatus();
}

const Optimizer<ProximalAdagrad> kProximalAdagrad({
    .name = "ProximalAdagrad",
    .variables = {"var", "accum"},
    .inputs = {"lr", "l1", "l2", "grad"},
    .check = CheckProximalAdagrad,
});

}  // namespace
}  // namespace tandem
