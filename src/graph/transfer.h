// The nodes that carry a tensor from one graph of a step to another, and their names.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/types/span.h"
#include "graph/node.h"

namespace tandem {

// One tensor's way in each step. Full device names.
struct Transfer {
  std::string source_device, target_device;
  std::string name;                   // attr tensor_name: "edge_12_W/read", or "x:0" of a feed or fetch
  bool is_client_terminated = false;  // RunGraph itself is the other end
};

// "node:1", "node" for output 0, "^node" for a control edge (output -1): as in NodeDef.input.
std::string InputText(absl::string_view node, int output);

// Makes the nodes of one step's transfers. Names are new in `graph`, of which the step is a part, and in all graphs made here.
class TransferNodes {
 public:
  using Incarnation = std::function<uint64_t(const std::string& device)>;

  TransferNodes(const Graph* graph, Incarnation incarnation) : graph_(graph), incarnation_(std::move(incarnation)) {}

  std::string NewName(absl::string_view from);
  std::string NewEdgeName(absl::string_view from) { return absl::StrCat("edge_", next_edge_++, "_", from); }
  // The full rendezvous key.
  std::string Key(const Transfer& transfer) const;

  // Each adds one node to `to` and returns its name.
  std::string AddSend(const std::string& name, const std::string& input, DataType type, const Transfer& transfer, tensorflow::GraphDef* to);
  std::string AddRecv(const std::string& name, DataType type, const Transfer& transfer, tensorflow::GraphDef* to);
  // An empty tensor, float of shape [0], that is there when all of `after` ("^node") have run.
  std::string AddSignal(absl::string_view name, const std::string& device, absl::Span<const std::string> after, tensorflow::GraphDef* to);
  // A node to wait for that runs when `recv` has its signal.
  std::string AddSignalTaker(const std::string& recv, const std::string& device, tensorflow::GraphDef* to);

 private:
  void SetTransfer(const Transfer& transfer, tensorflow::NodeDef* def) const;

  const Graph* graph_;  // null if the step has no node
  const Incarnation incarnation_;
  int next_name_ = 0, next_edge_ = 0;
};

}  // namespace tandem
