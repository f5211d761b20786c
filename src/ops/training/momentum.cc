// Momentum: accum = momentum * accum + grad, var -= lr * accum; and Keras's form of it, which scales what it accumulates.
#include "ops/training/optimizer.h"

namespace tandem {
namespace {

template <typename C>
struct Momentum {
  static constexpr int kSlots = 1;
  Momentum(const OptimizerFlags& flags, const C* scalars) : lr(scalars[0]), momentum(scalars[1]), use_nesterov(flags.use_nesterov) {}

  void Update(C& var, C* slot, C grad) const {
    C& accum = slot[0];
    accum = momentum * accum + grad;
    if (use_nesterov) {
      var -= grad * lr + accum * momentum * lr;
    } else {
      var -= lr * accum;
    }
  }

  const C lr, momentum;
  const bool use_nesterov;
};

const Optimizer<Momentum> kMomentum({
    .name = "Momentum",
    .variables = {"var", "accum"},
    .inputs = {"lr", "grad", "momentum"},
    .attrs = {"use_nesterov: bool = false"},
});

template <typename C>
struct KerasMomentum {
  static constexpr int kSlots = 1;
  KerasMomentum(const OptimizerFlags& flags, const C* scalars) : lr(scalars[0]), momentum(scalars[1]), use_nesterov(flags.use_nesterov) {}

  void Update(C& var, C* slot, C grad) const {
    C& accum = slot[0];
    accum = momentum * accum - lr * grad;
    if (use_nesterov) {
      var += momentum * accum - lr * grad;
    } else {
      var += accum;
    }
  }

  const C lr, momentum;
  const bool use_nesterov;
};

const Optimizer<KerasMomentum> kKerasMomentum({
    .name = "KerasMomentum",
    .variables = {"var", "accum"},
    .inputs = {"lr", "grad", "momentum"},
    .attrs = {"use_nesterov: bool = false"},
    .forms = {"ResourceApply", "ResourceSparseApply"},
});

}  // namespace
}  // namespace tandem
