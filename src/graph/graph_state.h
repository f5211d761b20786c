// What a Graph holds, for the files of this folder that build, import and export graphs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "graph/node.h"

namespace tandem {

// What we write as GraphDef.versions.producer, and the newest min_consumer that we can satisfy: that of TensorFlow 2.15.
constexpr int kGraphVersion = 1645;

struct Graph::State {
  std::vector<std::unique_ptr<Node>> nodes;
  absl::flat_hash_map<std::string, Node*> by_name;
  absl::flat_hash_map<std::string, int> name_counts;  // lower-case: names that differ only in case get different numbers too
  std::string name_prefix;                            // "outer/inner/" or ""
  std::vector<DeviceFunction> devices;                // innermost last
  std::vector<std::vector<Operation>> control_scopes;
  std::vector<Operation> colocations;
  std::map<std::string, std::vector<Output>> collections;
  tensorflow::FunctionDefLibrary library;             // of imported graphs; kept and exported
  int producer_version = 0;                           // versions.producer of what was imported; 0: not set
  int64_t seed = 0;
  int64_t last_id = 0;
  int64_t next_op_seed = 0;                           // of random ops without a seed of their own; see client/random.h
};

// Adds the nodes of `def` to `graph`. Nodes may come in any order, and are added so that each follows its inputs; an input may also
// name a node that is in `graph` already. InvalidArgument for what §3.2 and §7.1 of the specification call wrong: names, duplicates,
// missing inputs, types, cycles. Nothing is added on an error. Static shapes
// are inferred as far as they go; a contradiction leaves them unknown.
struct ImportOptions {
  std::string prefix;                  // "a" for names "a/x"; device and attrs are kept, names in "loc:@x" are prefixed too
  // An op that is not registered is NotFound "Op type not registered …", unless this is set: then its node is added with op == nullptr, and
  // whatever could run it must say so. Its types are those of the library's function of that name, or else unknown (kInvalid).
  bool keep_unknown_ops = false;
  bool allow_internal_names = false;   // node names and ops that begin with '_', as a master sends them to workers
};
Status ImportGraph(const tensorflow::GraphDef& def, const ImportOptions& options, Graph* graph);

// Only names and the syntax of inputs: what can be said of a graph without knowing ops and devices. ImportGraph does it too.
Status CheckGraphSyntax(const tensorflow::GraphDef& def, bool allow_internal_names = false);

// The whole graph, or nodes from `first_node` on, as a GraphDef with the library and versions.
void ExportGraph(const Graph& graph, int first_node, tensorflow::GraphDef* def);
// Name, op, inputs, requested device and attrs; `strip_defaults` leaves out attrs that equal their default.
void ExportNode(const Node& node, tensorflow::NodeDef* def, bool strip_defaults = false);

}  // namespace tandem
