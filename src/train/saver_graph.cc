#include "train/saver_graph.h"

#include <map>

#include "client/node_builder.h"
#include "client/scopes.h"
#include "graph/node.h"
#include "tandem/ops.h"

namespace tandem {
namespace {

struct Names {
  Output tensor_names, slices;
};

Names NamesOf(Graph& graph, const std::vector<Variable>& variables, const char* op) {
  std::vector<std::string> names, slices(variables.size());  // "" is the whole tensor
  for (const Variable& variable : variables) names.push_back(variable.name());
  return {Const(graph, Tensor(names), absl::StrCat(op, "/tensor_names")), Const(graph, Tensor(slices), absl::StrCat(op, "/shape_and_slices"))};
}

Operation AddSave(const Output& path, const std::vector<Variable>& variables) {
  const Names names = NamesOf(path.graph(), variables, "SaveV2");
  OutputList values;
  for (const Variable& variable : variables) values.push_back(variable.is_resource() ? variable.Read() : variable.handle());
  return NodeBuilder("SaveV2", "SaveV2").In(path).In(names.tensor_names).In(names.slices).In(values).Build();
}

void AddRestore(const Output& path, const std::vector<Variable>& variables, std::vector<Operation>* assigns) {
  const Names names = NamesOf(path.graph(), variables, "RestoreV2");
  std::vector<DataType> dtypes;
  for (const Variable& variable : variables) dtypes.push_back(variable.dtype());
  Operation restored = NodeBuilder("RestoreV2", "RestoreV2").In(path).In(names.tensor_names).In(names.slices).Set("dtypes", dtypes).Build();
  for (size_t i = 0; i < variables.size(); ++i) {
    const Output value = restored.output(static_cast<int>(i));
    const Variable& variable = variables[i];
    if (variable.is_resource()) {
      assigns->push_back(NodeBuilder("AssignVariableOp", "AssignVariableOp").In(variable.handle()).In(Identity(value)).Set("validate_shape", true).With(variable.handle()).Build());
    } else {
      assigns->push_back(NodeBuilder("Assign", "Assign").In(variable.handle()).In(value).Set("use_locking", true).With(variable.handle()).Build());
    }
  }
}

// The task of a device, on its first CPU: files are written there.
std::string CpuOf(const std::string& device) {
  std::string task;
  for (const char* part : {"/job:", "/replica:", "/task:"}) {
    const size_t begin = device.find(part);
    if (begin != std::string::npos) task += device.substr(begin, device.find('/', begin + 1) - begin);
  }
  return task + "/device:CPU:0";
}

Output AddShardedSave(const Output& filename, const std::map<std::string, std::vector<Variable>>& by_device) {
  Graph& graph = filename.graph();
  // Parts are written to a directory of their own and moved from there, so that a save that breaks off leaves no half a checkpoint.
  Output suffix = Const(graph, "_temp/part", "StringJoin/inputs_1");
  Output part_prefix = NodeBuilder("StringJoin", "StringJoin").In(OutputList{filename, suffix}).Build().output();
  Output shard_count = Const(graph, static_cast<int32_t>(by_device.size()), "num_shards");
  OutputList paths;
  std::vector<Operation> saves;
  for (const auto& [device, variables] : by_device) {
    DeviceScope scope(graph, device);
    Output shard = Const(graph, static_cast<int32_t>(paths.size()), "ShardedFilename/shard");
    Output path = NodeBuilder("ShardedFilename", "ShardedFilename").In(part_prefix).In(shard).In(shard_count).Build().output();
    Operation save = AddSave(path, variables);
    ControlDependencies after(graph, {save});
    paths.push_back(Identity(path, "control_dependency"));
    saves.push_back(save);
  }
  Operation merge = NodeBuilder("MergeV2Checkpoints", "MergeV2Checkpoints").In(Stack(paths, 0, "MergeV2Checkpoints/checkpoint_prefixes")).In(filename).After(saves).Build();
  ControlDependencies after(graph, {merge});
  return Identity(filename, "Identity");
}

}  // namespace

SaverGraph AddSaverGraph(Graph& graph, const std::vector<Variable>& variables, bool is_sharded) {
  RootNames root(graph);
  NoControlDependencies no_dependencies(graph);
  NameScope scope(graph, "save");
  SaverGraph made;
  Output input = Const(graph, "model", "filename/input");
  Output filename = PlaceholderWithDefault(input, PartialShape::Scalar(), "filename");
  made.filename = PlaceholderWithDefault(filename, PartialShape::Scalar(), "Const");
  std::vector<Operation> assigns;
  if (is_sharded) {
    std::map<std::string, std::vector<Variable>> by_device;
    for (const Variable& variable : variables) by_device[CpuOf(variable.handle().node->device)].push_back(variable);
    made.saved = AddShardedSave(made.filename, by_device);
    for (const auto& [device, held] : by_device) {
      DeviceScope at(graph, device);
      AddRestore(made.filename, held, &assigns);
    }
  } else {
    Operation save = AddSave(made.filename, variables);
    {
      ControlDependencies after(graph, {save});
      made.saved = Identity(made.filename, "control_dependency");
    }
    AddRestore(made.filename, variables, &assigns);
  }
  made.restore = Group(graph, assigns, "restore_all");
  return made;
}

}  // namespace tandem
