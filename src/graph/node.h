// A node of a graph, with its edges. Made by Graph::TryAddNode or by import; see include/tandem/graph.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/attrs.h"
#include "graph/op.h"
#include "proto/graph.pb.h"
#include "tandem/graph.h"

namespace tandem {

class Node {
 public:
  int id = 0;                       // index in Graph::nodes()
  Graph* graph = nullptr;
  const Op* op = nullptr;           // null if the op is not registered here: such a node can be kept and sent, not run
  tensorflow::NodeDef def;          // name, op and attrs (defaults filled in); its `input` and `device` are those of the import
  std::vector<Output> inputs;       // data inputs, flattened
  std::vector<Node*> control_inputs;
  std::vector<DataType> input_types, output_types;  // ref types where the op says Ref(T)
  std::vector<PartialShape> output_shapes;          // as far as inferred
  std::string device;               // as requested: full, partial or empty
  std::string assigned_device;      // full name, after placement

  const std::string& name() const { return def.name(); }
  const std::string& op_name() const { return def.op(); }
  Attrs attrs() const { return Attrs(def, input_types, output_types); }
  bool is_stateful() const { return op != nullptr && op->def.is_stateful; }
};

// The data edges and control edges out of each node, by id; made on demand by passes that walk forward.
struct Consumers {
  struct Edge {
    Node* to;
    int input;  // -1: control
    int output;
  };
  std::vector<std::vector<Edge>> by_node;
};
Consumers FindConsumers(const Graph& graph);

// Nodes so that each comes after its inputs and control inputs, except along NextIteration's back edges.
// InvalidArgument "N nodes in a cycle" for other cycles.
StatusOr<std::vector<Node*>> TopologicalOrder(const Graph& graph);
// The same for some nodes; edges from others do not count. Keeps the given order where it can.
StatusOr<std::vector<Node*>> TopologicalOrder(absl::Span<Node* const> nodes);
// Whether an edge between these two leads into the next iteration of a loop.
bool IsBackEdge(const Node& from, const Node& to);

// How the types of a node follow from its op and attrs. InvalidArgument if an attr is missing or wrong.
Status ComputeTypes(const OpDef& op, const tensorflow::NodeDef& def, std::vector<DataType>* inputs, std::vector<DataType>* outputs);

// Fills in missing attrs from the op's defaults and checks the others: allowed values, minima, types. NotFound
// "No attr named 'dtype' in NodeDef:" for a missing one without default. Attrs that the op does not declare stay and are ignored.
Status CompleteAttrs(const OpDef& op, tensorflow::NodeDef* def);

}  // namespace tandem
