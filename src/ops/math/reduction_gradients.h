// Gradients of reductions, built from ops.
#pragma once

#include "graph/gradient.h"

namespace tandem {

Status SumGradient(GradientScope& g);
Status MeanGradient(GradientScope& g);
Status ProdGradient(GradientScope& g);
Status ExtremumGradient(GradientScope& g);  // Max and Min
Status EuclideanNormGradient(GradientScope& g);

}  // namespace tandem
