#include "tandem/device_setter.h"

#include <algorithm>
#include <array>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/local_mark.h"
#include "graph/node.h"

namespace tandem {
namespace {

// Ops that hold state, as TensorFlow lists them.
constexpr std::array<absl::string_view, 10> kStateOps = {"Variable",
                                                         "VariableV2",
                                                         "VarHandleOp",
                                                         "AutoReloadVariable",
                                                         "MutableHashTable",
                                                         "MutableHashTableV2",
                                                         "MutableHashTableOfTensors",
                                                         "MutableHashTableOfTensorsV2",
                                                         "MutableDenseHashTable",
                                                         "MutableDenseHashTableV2"};

int64_t BytesOf(const Node& node) {
  const Attrs attrs = node.attrs();
  if (!attrs.Has("shape") || !attrs.Has("dtype")) return 1;
  const int64_t elements = attrs.GetShape("shape").num_elements();
  return elements == kUnknownSize ? 1 : elements * static_cast<int64_t>(std::max<size_t>(1, DataTypeSize(attrs.GetType("dtype"))));
}

// Which ps task gets the next variable.
class Chooser {
 public:
  Chooser(int tasks, PlacementStrategy strategy) : bytes_(tasks), strategy_(strategy) {}

  int Next(const Node& node) {
    size_t chosen = next_++ % bytes_.size();
    if (strategy_ == PlacementStrategy::kGreedyByBytes) chosen = std::min_element(bytes_.begin(), bytes_.end()) - bytes_.begin();
    bytes_[chosen] += BytesOf(node);
    return static_cast<int>(chosen);
  }

 private:
  std::vector<int64_t> bytes_;
  const PlacementStrategy strategy_;
  size_t next_ = 0;
};

}  // namespace

DeviceFunction ReplicaDeviceSetter(int ps_tasks, const std::string& ps_device, const std::string& worker_device, PlacementStrategy strategy) {
  if (ps_tasks < 1) return [](const Node&, const std::string& device) { return device; };
  auto chooser = std::make_shared<Chooser>(ps_tasks, strategy);
  return [chooser, ps_device, worker_device](const Node& node, const std::string& device) {
    const bool is_state = std::find(kStateOps.begin(), kStateOps.end(), node.op_name()) != kStateOps.end() && !node.def.attr().contains(kLocalMark);
    const std::string task = is_state ? absl::StrCat(ps_device, "/task:", chooser->Next(node)) : worker_device;
    // A job or task that is asked for by name wins.
    if (absl::StrContains(device, "/job:") || absl::StrContains(device, "/task:")) return device;
    return absl::StrCat(task, device);
  };
}

DeviceFunction ReplicaDeviceSetter(const ClusterConfig& config, PlacementStrategy strategy) {
  return ReplicaDeviceSetter(config.ps_count(), "/job:ps", absl::StrCat("/job:", config.job_name(), "/task:", config.task_index()), strategy);
}

}  // namespace tandem
