// Gives every node of a graph the device that it runs on.
#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "graph/node.h"

namespace tandem {

struct PlacementOptions {
  struct Device {
    std::string name;           // full
    std::string type;           // "CPU"
  };
  std::vector<Device> devices;  // all that the session may use
  std::string master_task;      // "/job:worker/replica:0/task:0": nodes without a wish go to its first CPU
  bool allow_soft_placement = false;
};

// Nodes that have no place. Nothing but a step that needs such a node fails.
class PlacementErrors {
 public:
  bool empty() const { return by_node_.empty(); }
  // The error of the first of `nodes` that has one.
  Status Check(absl::Span<Node* const> nodes) const;

 private:
  friend PlacementErrors PlaceGraph(const PlacementOptions& options, Graph* graph);
  absl::flat_hash_map<const Node*, Status> by_node_;
};

// Sets assigned_device of all nodes. Stateful nodes that have one keep it, so that placing again after the graph has grown moves no
// variable; the others follow the rules anew:
// - nodes joined by `_class` entries "loc:@name", by a ref edge or by a resource edge are one group and share a device; where a consumer
//   on such an edge asks for another device than the producer, the producer wins;
// - a group without a wish goes to the first CPU of the master's task; but a node without inputs and with one output follows its
//   consumers if these share a device, and one that reads only the shape of its input follows that input;
// - with soft placement a device type or id that is not there is replaced by another device of the same task.
// Errors are InvalidArgument and name the node, what it asked for and the devices there are. An error belongs to all nodes of its group.
PlacementErrors PlaceGraph(const PlacementOptions& options, Graph* graph);

}  // namespace tandem
