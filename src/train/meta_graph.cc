#include "train/meta_graph.h"

#include <algorithm>

#include "graph/graph_state.h"
#include "graph/node.h"
#include "proto/checkpoint.pb.h"
#include "proto/meta_graph.pb.h"
#include "tandem/variable.h"

namespace tandem {
namespace {

void DescribeVariable(const Variable& variable, bool is_trainable, tensorflow::VariableDef* def) {
  def->set_variable_name(variable.handle().name());
  if (variable.initializer().is_valid()) def->set_initializer_name(variable.initializer().name());
  if (variable.initial_value().is_valid()) def->set_initial_value_name(variable.initial_value().name());
  def->set_snapshot_name(variable.value().name());
  def->set_is_resource(variable.is_resource());
  def->set_trainable(is_trainable);
}

}  // namespace

std::string MakeMetaGraph(const Graph& graph, const SaverGraph* saver, const MetaGraphOptions& options) {
  tensorflow::MetaGraphDef meta;
  ExportGraph(graph, 0, meta.mutable_graph_def());
  if (saver != nullptr) {
    tensorflow::SaverDef* def = meta.mutable_saver_def();
    def->set_filename_tensor_name(saver->filename.name());
    def->set_save_tensor_name(saver->saved.name());
    def->set_restore_op_name(saver->restore.name());
    def->set_max_to_keep(options.max_to_keep);
    def->set_sharded(options.sharded);
    def->set_keep_checkpoint_every_n_hours(static_cast<float>(options.keep_checkpoint_every_n_hours));
    def->set_version(tensorflow::SaverDef::V2);
  }
  const std::vector<Output> trainable = graph.Collection(kTrainableVariables);
  for (const char* collection : {kGlobalVariables, kTrainableVariables, kLocalVariables, kGlobalStep}) {
    for (const Variable& variable : Variable::Collection(graph, collection)) {
      const bool is_trainable = std::find(trainable.begin(), trainable.end(), variable.handle()) != trainable.end();
      tensorflow::VariableDef def;
      DescribeVariable(variable, is_trainable, &def);
      (*meta.mutable_collection_def())[collection].mutable_bytes_list()->add_value(def.SerializeAsString());
    }
  }
  for (const Output& summary : graph.Collection("summaries")) {
    (*meta.mutable_collection_def())["summaries"].mutable_node_list()->add_value(summary.name());
  }
  return meta.SerializeAsString();
}

}  // namespace tandem
