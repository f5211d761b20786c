#include "graph/place.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "graph/device_name.h"
#include "graph/graph_state.h"

namespace tandem {
namespace {

std::string Suffix(const Node& node) { return absl::StrCat("\n\t [[{{node ", node.name(), "}}]]"); }

bool ReadsOnlyShape(const Node& node) {
  const std::string& op = node.op_name();
  return op == "Shape" || op == "Size" || op == "Rank";
}

// A ref edge into a value input only reads: it may cross tasks.
bool JoinsDevices(const Node& consumer, size_t input) {
  const Output& from = consumer.inputs[input];
  DataType given = from.node->output_types[from.index];
  return BaseType(given) == kResource || (IsRef(given) && IsRef(consumer.input_types[input]));
}

// Nodes that must share a device, found by their root.
class Groups {
 public:
  explicit Groups(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }

  int Find(int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  // The root of `into` becomes the root of both.
  void Join(int into, int other) { parent_[Find(other)] = Find(into); }
  int Add() {
    parent_.push_back(static_cast<int>(parent_.size()));
    return parent_.back();
  }
  size_t size() const { return parent_.size(); }

 private:
  std::vector<int> parent_;
};

class Placer {
 public:
  Placer(const PlacementOptions& options, Graph* graph) : options_(options), state_(graph->state()), groups_(state_.nodes.size()) {
    for (const PlacementOptions::Device& device : options.devices) {
      StatusOr<DeviceName> name = DeviceName::Parse(device.name);
      if (name.ok() && name->is_full()) devices_.push_back({device.name, *std::move(name), device.type});
    }
    // The order of preference.
    auto rank = [&](const Candidate& c) { return std::make_pair(c.name.TaskString() != options_.master_task, c.text); };
    std::sort(devices_.begin(), devices_.end(), [&](const Candidate& a, const Candidate& b) { return rank(a) < rank(b); });
  }

  absl::flat_hash_map<const Node*, Status> Run() {
    // Groups beyond the nodes stand for labels in "loc:@label" that no node has.
    JoinColocated();
    requests_.resize(groups_.size());
    errors_.resize(groups_.size());
    asking_.resize(groups_.size(), nullptr);
    for (const std::unique_ptr<Node>& node : state_.nodes) AddRequest(node.get());
    JoinProducersAndConsumers();
    ChooseDevices();
    FollowNeighbours();
    absl::flat_hash_map<const Node*, Status> errors;
    for (const std::unique_ptr<Node>& node : state_.nodes) {
      const Status& error = errors_[groups_.Find(node->id)];
      if (error.ok()) continue;
      node->assigned_device.clear();
      errors.emplace(node.get(), error);
    }
    return errors;
  }

 private:
  struct Candidate {
    std::string text;
    DeviceName name;
    std::string type;
  };

  void JoinColocated() {
    absl::flat_hash_map<std::string, int> labels;
    for (const std::unique_ptr<Node>& node : state_.nodes) {
      auto attr = node->def.attr().find("_class");
      if (attr == node->def.attr().end()) continue;
      for (absl::string_view entry : attr->second.list().s()) {
        if (!absl::ConsumePrefix(&entry, "loc:@")) continue;
        auto named = state_.by_name.find(entry);
        if (named != state_.by_name.end()) {
          groups_.Join(named->second->id, node->id);
          continue;
        }
        auto [label, is_new] = labels.emplace(std::string(entry), 0);
        if (is_new) label->second = groups_.Add();
        groups_.Join(label->second, node->id);
      }
    }
  }

  StatusOr<DeviceName> Parse(const std::string& text) {
    auto found = parsed_.find(text);
    if (found == parsed_.end()) found = parsed_.emplace(text, DeviceName::Parse(text)).first;
    return found->second;
  }

  void AddRequest(Node* node) {
    if (node->device.empty()) return;
    int group = groups_.Find(node->id);
    Status& error = errors_[group];
    if (!error.ok()) return;
    StatusOr<DeviceName> name = Parse(node->device);
    if (!name.ok()) {
      error = InvalidArgument(name.status().message(), " in node: ", node->name(), Suffix(*node));
      return;
    }
    Status merged = MergeDeviceNames(*name, options_.allow_soft_placement, &requests_[group]);
    if (merged.ok()) {
      if (asking_[group] == nullptr) asking_[group] = node;
    } else if (!options_.allow_soft_placement) {
      error = InvalidArgument("Cannot colocate nodes {{colocation_node ", node->name(), "}} and {{colocation_node ", asking_[group]->name(), "}}: ", merged.message(),
                              Suffix(*node));
    } else {
      // An impossible colocation is given up: this node goes where it asked to be, alone.
      loners_.emplace_back(node, *std::move(name));
    }
  }

  // Along ref and resource edges, from producers on, so that the wish of the first one reaches all.
  void JoinProducersAndConsumers() {
    for (const std::unique_ptr<Node>& node : state_.nodes) {
      for (size_t i = 0; i < node->inputs.size(); ++i) {
        if (!JoinsDevices(*node, i)) continue;
        int producer = groups_.Find(node->inputs[i].node->id);
        int consumer = groups_.Find(node->id);
        if (producer == consumer) continue;
        // On a conflict the producer's request stays as it is.
        if (MergeDeviceNames(requests_[consumer], options_.allow_soft_placement, &requests_[producer]).ok() && asking_[producer] == nullptr) {
          asking_[producer] = asking_[consumer];
        }
        if (errors_[producer].ok()) errors_[producer] = errors_[consumer];
        groups_.Join(producer, consumer);
      }
    }
  }

  void ChooseDevices() {
    sizes_.resize(groups_.size(), 0);
    std::vector<const std::string*> chosen(groups_.size(), nullptr);
    for (const std::unique_ptr<Node>& node : state_.nodes) {
      int group = groups_.Find(node->id);
      ++sizes_[group];
      if (chosen[group] == nullptr && KeepsDevice(*node)) chosen[group] = &node->assigned_device;
    }
    // A device may stand in a node that gets another one below.
    std::vector<std::string> devices(groups_.size());
    for (size_t i = 0; i < devices.size(); ++i) {
      if (chosen[i] != nullptr) devices[i] = *chosen[i];
    }
    for (const std::unique_ptr<Node>& node : state_.nodes) {
      if (KeepsDevice(*node)) continue;
      int group = groups_.Find(node->id);
      if (!errors_[group].ok()) continue;
      if (devices[group].empty()) {
        StatusOr<std::string> device = DeviceFor(requests_[group], asking_[group] != nullptr ? *asking_[group] : *node);
        if (device.ok()) {
          devices[group] = *std::move(device);
        } else {
          errors_[group] = device.status();
          continue;
        }
      }
      node->assigned_device = devices[group];
    }
    for (auto& [node, request] : loners_) {
      StatusOr<std::string> device = DeviceFor(request, *node);
      if (device.ok() && !KeepsDevice(*node)) node->assigned_device = *std::move(device);
    }
  }

  bool KeepsDevice(const Node& node) const { return node.is_stateful() && !node.assigned_device.empty() && IsDevice(node.assigned_device); }

  bool IsDevice(const std::string& text) const {
    return std::any_of(devices_.begin(), devices_.end(), [&](const Candidate& c) { return c.text == text; });
  }

  // The best device for a request; kernels exist for CPUs only.
  StatusOr<std::string> DeviceFor(DeviceName request, const Node& asking) {
    std::string key = request.ToString();
    auto [found, is_new] = choices_.emplace(key, nullptr);
    if (is_new) {
      found->second = Match(request);
      if (found->second == nullptr && options_.allow_soft_placement) {
        request.type.reset();
        request.id.reset();
        found->second = Match(request);
      }
    }
    if (found->second != nullptr) return found->second->text;
    if (devices_.empty()) return InvalidArgument("Cannot assign a device for operation ", asking.name(), ": the session has no device", Suffix(asking));
    const Candidate* other = nullptr;
    for (const Candidate& device : devices_) {
      if (request.Matches(device.name)) other = &device;
    }
    if (other != nullptr) {
      return InvalidArgument("Cannot assign a device for operation ", asking.name(), ": Could not satisfy explicit device specification '", asking.device,
                             "' because no supported kernel for ", other->type, " devices is available.", Suffix(asking));
    }
    return InvalidArgument("Cannot assign a device for operation ", asking.name(), ": {{node ", asking.name(), "}} was explicitly assigned to ", key,
                           " but available devices are [ ", AvailableDevices(), " ]. Make sure the device specification refers to a valid device.", Suffix(asking));
  }

  const Candidate* Match(const DeviceName& request) const {
    for (const Candidate& device : devices_) {
      if (device.type == "CPU" && request.Matches(device.name)) return &device;
    }
    return nullptr;
  }

  std::string AvailableDevices() const {
    std::vector<std::string> names;
    for (const Candidate& device : devices_) names.push_back(device.text);
    std::sort(names.begin(), names.end());
    return absl::StrJoin(names, ", ");
  }

  bool IsFree(const Node& node) {
    int group = groups_.Find(node.id);
    return sizes_[group] == 1 && errors_[group].ok() && !KeepsDevice(node);
  }

  // Whether `node`, which is free, may also be on `device`.
  bool MayMove(const Node& node, const std::string& device) {
    if (device.empty()) return false;
    StatusOr<DeviceName> name = Parse(device);
    return name.ok() && name->type == "CPU" && requests_[groups_.Find(node.id)].Matches(*name);
  }

  // Shapes are read where the tensor is, and constants made where they are used.
  void FollowNeighbours() {
    for (const std::unique_ptr<Node>& node : state_.nodes) {
      if (!ReadsOnlyShape(*node) || node->inputs.empty() || !IsFree(*node)) continue;
      const std::string& device = node->inputs[0].node->assigned_device;
      if (MayMove(*node, device)) node->assigned_device = device;
    }
    // Of all consumers: their device, or none if they disagree.
    std::vector<const std::string*> device_of_consumers(state_.nodes.size(), nullptr);
    static const std::string none;
    auto note = [&](const Node* from, const Node& to) {
      const std::string*& device = device_of_consumers[from->id];
      if (device == nullptr) {
        device = &to.assigned_device;
      } else if (*device != to.assigned_device) {
        device = &none;
      }
    };
    for (const std::unique_ptr<Node>& node : state_.nodes) {
      for (const Output& input : node->inputs) note(input.node, *node);
      for (const Node* control : node->control_inputs) note(control, *node);
    }
    for (const std::unique_ptr<Node>& node : state_.nodes) {
      bool is_generator = node->inputs.empty() && node->output_types.size() == 1 && !IsRef(node->output_types[0]);
      const std::string* device = device_of_consumers[node->id];
      if (is_generator && device != nullptr && IsFree(*node) && MayMove(*node, *device)) node->assigned_device = *device;
    }
  }

  const PlacementOptions& options_;
  Graph::State& state_;
  Groups groups_;
  std::vector<Candidate> devices_;
  absl::flat_hash_map<std::string, StatusOr<DeviceName>> parsed_;
  absl::flat_hash_map<std::string, const Candidate*> choices_;  // by request
  // By root of a group.
  std::vector<DeviceName> requests_;
  std::vector<Status> errors_;
  std::vector<const Node*> asking_;  // whose wish it is
  std::vector<int> sizes_;
  std::vector<std::pair<Node*, DeviceName>> loners_;
};

}  // namespace

Status PlacementErrors::Check(absl::Span<Node* const> nodes) const {
  if (by_node_.empty()) return OkStatus();
  for (const Node* node : nodes) {
    auto found = by_node_.find(node);
    if (found != by_node_.end()) return found->second;
  }
  return OkStatus();
}

PlacementErrors PlaceGraph(const PlacementOptions& options, Graph* graph) {
  PlacementErrors errors;
  errors.by_node_ = Placer(options, graph).Run();
  return errors;
}

}  // namespace tandem
