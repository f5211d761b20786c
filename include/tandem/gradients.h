// Derivatives, built as a graph from the graph.
#pragma once

#include "tandem/graph.h"

namespace tandem {

// d sum(ys) / d x for each x, each as if weighted by `grad_ys` (ones if empty; as many as ys otherwise). An invalid Output where
// ys do not depend on x. For a variable give its handle() to count every read of it, or its value().
// Throws tandem::Error, naming node and op, when an op on the way has no gradient.
OutputList Gradients(const OutputList& ys, const OutputList& xs, const OutputList& grad_ys = {});

// All of them scaled so that their common L2 norm is at most `max_norm`. Invalid ones stay invalid.
OutputList ClipByGlobalNorm(const OutputList& gradients, float max_norm);

}  // namespace tandem
