// FTRL-proximal: follows the regularised leader; l1 gives exact zeros. V2 adds a shrinkage that pulls like l2 but leaves accum alone.
#include <algorithm>
#include <cmath>

#include "ops/training/optimizer.h"

namespace tandem {
namespace {

template <typename C>
struct FtrlStep {
  // accum^-lr_power
  C Power(C accum) const { return lr_power == C(-0.5) ? std::sqrt(accum) : std::pow(accum, -lr_power); }

  // `pull` is what linear grows by: the gradient, with the shrinkage if there is one.
  void Update(C& var, C* slot, C grad, C pull) const {
    C &accum = slot[0], &linear = slot[1];
    const C new_accum = accum + grad * grad;
    const C power = Power(new_accum), change = power - Power(accum);
    // With multiply_linear_by_lr, `linear` holds lr times what it holds without, and everything below is scaled by lr.
    const C scale = scales_linear ? lr : C(1), per_lr = scales_linear ? C(1) : lr;
    linear += pull * scale - change / per_lr * var;
    const C threshold = l1 * scale;
    const C shrunk = std::min(std::max(linear, -threshold), threshold) - linear;
    var = std::abs(linear) > threshold ? shrunk / (power / per_lr + 2 * l2 * scale) : C(0);
    accum = new_accum;
  }

  C lr, l1, l2, lr_power;
  bool scales_linear;
};

template <typename C>
struct Ftrl {
  static constexpr int kSlots = 2;
  Ftrl(const OptimizerFlags& flags, const C* scalars) : step{scalars[0], scalars[1], scalars[2], scalars[3], flags.multiply_linear_by_lr} {}

  void Update(C& var, C* slot, C grad) const { step.Update(var, slot, grad, grad); }

  const FtrlStep<C> step;
};

template <typename C>
struct FtrlV2 {
  static constexpr int kSlots = 2;
  FtrlV2(const OptimizerFlags& flags, const C* scalars)
      : step{scalars[0], scalars[1], scalars[2], scalars[4], flags.multiply_linear_by_lr}, l2_shrinkage(scalars[3]) {}

  void Update(C& var, C* slot, C grad) const { step.Update(var, slot, grad, grad + 2 * l2_shrinkage * var); }

  const FtrlStep<C> step;
  const C l2_shrinkage;
};

Status CheckFtrl(const OptimizerFlags& flags, bool is_sparse, absl::Span<const double> scalars) {
  if (!is_sparse) return OkStatus();  // TensorFlow looks at them in the sparse forms only
  const double lr = scalars[0];
  if (!(lr > 0 || (flags.multiply_linear_by_lr && lr >= 0))) return InvalidArgument("lr is not a positive scalar (or zero if multiply_linear_by_lr is set): ", lr);
  if (!(scalars[1] >= 0)) return InvalidArgument("l1 regularization strength is not a non-negative scalar: ", scalars[1]);
  if (!(scalars[2] >= 0)) return InvalidArgument("l2 regularization strength is not a non-negative scalar: ", scalars[2]);
  if (scalars.size() == 5 && !(scalars[3] >= 0)) return InvalidArgument("l2 shrinkage regularization strength is not a non-negative scalar: ", scalars[3]);
  if (!(scalars.back() <= 0)) return InvalidArgument("lr_power is not a non-positive scalar: ", scalars.back());
  return OkStatus();
}

const Optimizer<Ftrl> kFtrl({
    .name = "Ftrl",
    .variables = {"var", "accum", "linear"},
    .inputs = {"grad", "lr", "l1", "l2", "lr_power"},
    .attrs = {"multiply_linear_by_lr: bool = false"},
    .check = CheckFtrl,
});

const Optimizer<FtrlV2> kFtrlV2({
    .name = "FtrlV2",
    .variables = {"var", "accum", "linear"},
    .inputs = {"grad", "lr", "l1", "l2", "l2_shrinkage", "lr_power"},
    .attrs = {"multiply_linear_by_lr: bool = false"},
    .check = CheckFtrl,
});

}  // namespace
}  // namespace tandem
