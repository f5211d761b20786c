// Adagrad: accum += grad^2, var -= lr * grad / sqrt(accum). V2 adds epsilon to the root.
#include <cmath>

#include "ops/training/optimizer.h"

namespace tandem {
namespace {

template <typename C>
struct Adagrad {
  static constexpr int kSlots = 1;
  Adagrad(const OptimizerFlags& flags, const C* scalars) : lr(scalars[0]), update_slots(flags.update_slots) {}

  void Update(C& var, C* slot, C grad) const {
    C& accum = slot[0];
    accum += update_slots ? grad * grad : C(0);
    var -= grad * lr / std::sqrt(accum);
  }

  const C lr;
  const bool update_slots;
};

const Optimizer<Adagrad> kAdagrad({
    .name = "Adagrad",
    .variables = {"var", "accum"},
    .inputs = {"lr", "grad"},
    .attrs = {"update_slots: bool = true"},
});

template <typename C>
struct AdagradV2 {
  static constexpr int kSlots = 1;
  AdagradV2(const OptimizerFlags& flags, const C* scalars) : lr(scalars[0]), epsilon(scalars[1]), update_slots(flags.update_slots) {}

  void Update(C& var, C* slot, C grad) const {
    C& accum = slot[0];
    accum += update_slots ? grad * grad : C(0);
    var -= lr * grad / (std::sqrt(accum) + epsilon);
  }

  const C lr, epsilon;
  const bool update_slots;
};

const Optimizer<AdagradV2> kAdagradV2({
    .name = "AdagradV2",
    .variables = {"var", "accum"},
    .inputs = {"lr", "epsilon", "grad"},
    .attrs = {"update_slots: bool = true"},
});

}  // namespace
}  // namespace tandem
