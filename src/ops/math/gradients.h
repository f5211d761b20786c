// What gradients of the math ops share.
#pragma once

#include "graph/gradient.h"

namespace tandem {

// conj(x) if x is complex, x otherwise.
Output Conjugate(GradientScope& g, const Output& x);

// For a reduction whose input 1 names axes: `reduced` (the output or its gradient) with those axes put back as size 1, so that it
// broadcasts with input 0.
Output WithReducedAxes(GradientScope& g, const Output& reduced);

}  // namespace tandem
