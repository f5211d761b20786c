// The part of the graph that saves and restores, named as TensorFlow's (specification, section 4.6).
#pragma once

#include <vector>

#include "tandem/graph.h"
#include "tandem/variable.h"

namespace tandem {

struct SaverGraph {
  Output filename;    // fed with the path, to save and to restore
  Output saved;       // fetched to save: the path
  Operation restore;  // run to restore
};

SaverGraph AddSaverGraph(Graph& graph, const std::vector<Variable>& variables, bool is_sharded);

}  // namespace tandem
