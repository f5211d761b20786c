#include "ops/math/gradients.h"

namespace tandem {

Output Conjugate(GradientScope& g, const Output& x) { return x.is_valid() && IsComplex(x.dtype()) ? g.Op("Conj", {x}) : x; }

}  // namespace tandem
