#include "cluster/registered_graph.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "graph/graph_state.h"
#include "kernel/rendezvous.h"
#include "proto/graph.pb.h"

namespace tandem {
namespace {

bool IsSend(const Node& node) { return node.op_name() == "_Send" || node.op_name() == "_HostSend"; }
bool IsRecv(const Node& node) { return node.op_name() == "_Recv" || node.op_name() == "_HostRecv"; }
bool IsClientTerminated(const Node& node) { return node.attrs().Has("client_terminated") && node.attrs().GetBool("client_terminated"); }

std::string KeyOf(const Node& node) {
  const Attrs attrs = node.attrs();
  return EdgeKey::Make(attrs.GetString("send_device"), static_cast<uint64_t>(attrs.GetInt("send_device_incarnation")), attrs.GetString("recv_device"),
                       attrs.GetString("tensor_name"))
      .full;
}

StatusOr<std::unique_ptr<Graph>> Import(const tensorflow::GraphDef& def) {
  auto graph = std::make_unique<Graph>();
  RETURN_IF_ERROR(ImportGraph(def, {.allow_internal_names = true}, graph.get()));
  for (const auto& node : graph->nodes()) node->assigned_device = node->device;
  return graph;
}

}  // namespace

StatusOr<std::shared_ptr<RegisteredGraph>> RegisteredGraph::Make(std::shared_ptr<const tensorflow::GraphDef> def, std::shared_ptr<DeviceSet> devices,
                                                                 KernelCache* kernels) {
  std::shared_ptr<RegisteredGraph> made(new RegisteredGraph);
  made->def_ = std::move(def);
  made->devices_ = std::move(devices);
  made->kernels_ = kernels;
  ASSIGN_OR_RETURN(std::unique_ptr<Graph> graph, Import(*made->def_));
  PlanSpec spec;
  spec.devices = made->devices_;
  spec.kernels = kernels;
  absl::flat_hash_set<const Node*> fed;
  for (const auto& node : graph->nodes()) {
    if (IsRecv(*node) && IsClientTerminated(*node)) {
      if (!made->feeds_.emplace(KeyOf(*node), static_cast<int>(spec.feeds.size())).second) return InvalidArgument("two nodes receive ", KeyOf(*node));
      made->feed_keys_.push_back(KeyOf(*node));
      spec.feeds.emplace_back(node.get(), 0);
      fed.insert(node.get());
    }
  }
  for (const auto& node : graph->nodes()) {
    // What waits for a feed to be there has nothing to wait for: feeds come with the call.
    auto& controls = node->control_inputs;
    controls.erase(std::remove_if(controls.begin(), controls.end(), [&](const Node* before) { return fed.contains(before); }), controls.end());
    if (fed.contains(node.get())) continue;
    const bool is_fetch = IsSend(*node) && IsClientTerminated(*node) && !fed.contains(node->inputs[0].node);
    if (is_fetch) {
      if (!made->fetches_.emplace(KeyOf(*node), static_cast<int>(spec.fetches.size())).second) return InvalidArgument("two nodes send ", KeyOf(*node));
      made->fetch_keys_.push_back(KeyOf(*node));
      spec.fetches.push_back(node->inputs[0]);
    } else {
      made->has_transfers_ |= IsSend(*node) || IsRecv(*node);
      spec.targets.push_back(node.get());
    }
  }
  ASSIGN_OR_RETURN(made->plan_, Plan::Make(*graph, spec));
  return made;
}

int RegisteredGraph::FindFeed(absl::string_view key) const {
  auto found = feeds_.find(key);
  return found == feeds_.end() ? -1 : found->second;
}

int RegisteredGraph::FindFetch(absl::string_view key) const {
  auto found = fetches_.find(key);
  return found == fetches_.end() ? -1 : found->second;
}

StatusOr<Plan*> RegisteredGraph::TransferPlan() {
  MutexLock lock(&mu_);
  if (transfer_plan_ == nullptr) {
    ASSIGN_OR_RETURN(std::unique_ptr<Graph> graph, Import(*def_));
    PlanSpec spec;
    spec.devices = devices_;
    spec.kernels = kernels_;
    for (const auto& node : graph->nodes()) spec.targets.push_back(node.get());
    ASSIGN_OR_RETURN(transfer_plan_, Plan::Make(*graph, spec));
  }
  return transfer_plan_.get();
}

}  // namespace tandem
