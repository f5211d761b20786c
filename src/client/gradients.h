// Reverse-mode differentiation of a graph.
#pragma once

#include "core/status.h"
#include "tandem/graph.h"

namespace tandem {

// Gradients() of tandem/gradients.h, with a status instead of an exception.
StatusOr<OutputList> AddGradients(const OutputList& ys, const OutputList& xs, const OutputList& grad_ys);

}  // namespace tandem
