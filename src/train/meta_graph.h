// The .meta file beside a checkpoint: the graph, how to save and restore it, and its variables.
#pragma once

#include <string>

#include "tandem/graph.h"
#include "train/saver_graph.h"

namespace tandem {

struct MetaGraphOptions {
  int max_to_keep = 5;
  double keep_checkpoint_every_n_hours = 10000;
  bool sharded = false;
};
// A serialised MetaGraphDef, which TensorFlow's import_meta_graph reads. `saver` may be null.
std::string MakeMetaGraph(const Graph& graph, const SaverGraph* saver, const MetaGraphOptions& options);

}  // namespace tandem
