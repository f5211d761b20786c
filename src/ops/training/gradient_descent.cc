// var -= alpha * delta
#include "ops/training/optimizer.h"

namespace tandem {
namespace {

template <typename C>
struct GradientDescent {
  static constexpr int kSlots = 0;
  GradientDescent(const OptimizerFlags&, const C* scalars) : alpha(scalars[0]) {}

  void Update(C& var, C*, C delta) const { var -= alpha * delta; }

  const C alpha;
};

const Optimizer<GradientDescent> kGradientDescent({
    .name = "GradientDescent",
    .variables = {"var"},
    .inputs = {"alpha", "delta"},
    .forms = {"Apply", "ResourceApply"},
});

}  // namespace
}  // namespace tandem
