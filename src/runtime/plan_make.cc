// Plan::Make: from a graph to arrays. Prunes, orders, groups into segments, numbers the slots, finds last readers.
#include <algorithm>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "core/net_address.h"
#include "runtime/plan_body.h"

namespace tandem {
namespace {

struct EndpointHash {
  size_t operator()(const Output& output) const { return absl::HashOf(output.node, output.index); }
};

bool IsPlaceholder(const Node& node) { return node.op_name() == "Placeholder" || node.op_name() == "PlaceholderV2"; }

class Builder {
 public:
  Builder(const PlanSpec& spec, Plan::Body* body) : spec_(spec), body_(*body) {}

  Status Build() {
    for (const Output& feed : spec_.feeds) {
      if (!feeds_.insert(feed).second) return InvalidArgument("Endpoint \"", feed.name(), "\" fed more than once.");
      fed_nodes_.insert(feed.node);
    }
    RETURN_IF_ERROR(Order());
    RETURN_IF_ERROR(Segments());
    RETURN_IF_ERROR(Slots());
    FindLastReaders();
    return OkStatus();
  }

 private:
  // Nodes that something wants, each after its inputs. Sends come as early as they can: a peer waits for them.
  Status Order() {
    for (Node* target : spec_.targets) {
      if (target->op_name() == "_Send" || target->op_name() == "_HostSend") RETURN_IF_ERROR(Visit(target));
    }
    for (const Output& fetch : spec_.fetches) {
      if (feeds_.contains(fetch)) return InvalidArgument(fetch.name(), " is both fed and fetched.");
      RETURN_IF_ERROR(Visit(fetch.node));
    }
    for (Node* target : spec_.targets) RETURN_IF_ERROR(Visit(target));
    return OkStatus();
  }

  // What must have run before `node`, without what is fed.
  std::vector<Node*> Predecessors(const Node& node) const {
    std::vector<Node*> before;
    for (const Output& input : node.inputs) {
      if (!feeds_.contains(input)) before.push_back(input.node);
    }
    for (Node* control : node.control_inputs) {
      if (!(IsPlaceholder(*control) && fed_nodes_.contains(control))) before.push_back(control);
    }
    return before;
  }

  // Depth first without recursion: graphs may be thousands of nodes deep.
  Status Visit(Node* start) {
    struct Frame {
      Node* node;
      std::vector<Node*> before;
      size_t next = 0;
    };
    if (state_[start] == kDone) return OkStatus();
    std::vector<Frame> stack;
    stack.push_back({start, Predecessors(*start)});
    state_[start] = kOpen;
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.next == frame.before.size()) {
        state_[frame.node] = kDone;
        order_.push_back(frame.node);
        stack.pop_back();
        continue;
      }
      Node* before = frame.before[frame.next++];
      int& state = state_[before];
      if (state == kDone) continue;
      if (state == kOpen) return InvalidArgument("node ", before->name(), " is part of a cycle");
      state = kOpen;
      stack.push_back({before, Predecessors(*before)});
    }
    return OkStatus();
  }

  StatusOr<std::shared_ptr<Kernel>> KernelFor(const Node& node) {
    // _Send and _Recv have no state, and two graphs of a session may use one name for different edges.
    if (spec_.kernels != nullptr && node.is_stateful() && node.op_name()[0] != '_') return spec_.kernels->GetOrMake(node);
    ASSIGN_OR_RETURN(std::unique_ptr<Kernel> kernel, MakeKernelFor(node));
    return std::shared_ptr<Kernel>(std::move(kernel));
  }

  StatusOr<Device*> DeviceFor(const Node& node) {
    const std::string& wanted = node.assigned_device.empty() ? node.device : node.assigned_device;
    if (wanted.empty()) return spec_.devices->first();
    if (Device* device = spec_.devices->Find(wanted)) return device;
    std::string available;
    for (const auto& device : spec_.devices->devices()) absl::StrAppend(&available, available.empty() ? "" : ", ", device->name());
    return InvalidArgument("Cannot assign a device for operation ", node.name(), ": {{node ", node.name(), "}} was explicitly assigned to ", wanted,
                           " but available devices are [ ", available, " ]. Make sure the device specification refers to a valid device.");
  }

  // Nodes that wait for the same set of asynchronous nodes make one segment. An edge between two segments always goes from a set
  // to a larger one, so segments cannot form a cycle; and a segment waits for nothing that each of its nodes does not wait for.
  Status Segments() {
    using Set = std::vector<uint64_t>;
    std::map<Set, int> segment_of_set;
    absl::flat_hash_map<const Node*, Set> waits_for;  // of a node's consumers
    std::vector<std::vector<PlanNode>> members;
    std::vector<std::vector<const Node*>> member_nodes;
    auto new_segment = [&](bool is_async) {
      Segment segment;
      segment.is_async = is_async;
      body_.segments.push_back(segment);
      members.emplace_back();
      member_nodes.emplace_back();
      return static_cast<int>(members.size()) - 1;
    };
    for (Node* node : order_) {
      StatusOr<std::shared_ptr<Kernel>> kernel = KernelFor(*node);
      if (!kernel.ok()) return WithNode(kernel.status(), node->name());
      StatusOr<Device*> device = DeviceFor(*node);
      if (!device.ok()) return WithNode(device.status(), node->name());
      PlanNode made;
      made.kernel = *std::move(kernel);
      made.info.name = node->name();
      made.info.op = node->op_name();
      made.info.device = *device;
      made.info.input_types = node->input_types;
      made.info.output_types = node->output_types;
      if (node->op_name() == "Const" && node->control_inputs.empty()) {
        RETURN_IF_ERROR(AddConstant(*node, made));
        continue;
      }
      Set set;
      for (Node* before : Predecessors(*node)) {
        auto found = waits_for.find(before);
        if (found == waits_for.end()) continue;  // a constant
        if (set.size() < found->second.size()) set.resize(found->second.size(), 0);
        for (size_t i = 0; i < found->second.size(); ++i) set[i] |= found->second[i];
      }
      int segment;
      if (made.kernel->is_async()) {
        made.async = static_cast<AsyncKernel*>(made.kernel.get());
        made.async_index = body_.async_count++;
        body_.has_recv |= node->op_name() == "_Recv" || node->op_name() == "_HostRecv";
        segment = new_segment(true);
        const size_t word = made.async_index / 64;
        if (set.size() <= word) set.resize(word + 1, 0);
        set[word] |= uint64_t{1} << (made.async_index % 64);
      } else {
        auto [found, is_new] = segment_of_set.try_emplace(set, 0);
        if (is_new) found->second = new_segment(false);
        segment = found->second;
      }
      waits_for.emplace(node, std::move(set));
      segment_of_[node] = segment;
      members[segment].push_back(std::move(made));
      member_nodes[segment].push_back(node);
    }
    for (size_t s = 0; s < members.size(); ++s) {
      body_.segments[s].begin = static_cast<int32_t>(body_.nodes.size());
      absl::flat_hash_set<int> before_segments;
      for (size_t i = 0; i < members[s].size(); ++i) {
        const Node* node = member_nodes[s][i];
        index_of_[node] = static_cast<int32_t>(body_.nodes.size());
        planned_.push_back(node);
        body_.nodes.push_back(std::move(members[s][i]));
        for (Node* before : Predecessors(*node)) {
          auto found = segment_of_.find(before);
          if (found != segment_of_.end() && found->second != static_cast<int>(s)) before_segments.insert(found->second);
        }
      }
      body_.segments[s].end = static_cast<int32_t>(body_.nodes.size());
      body_.segments[s].predecessors = static_cast<int32_t>(before_segments.size());
      for (int before : before_segments) body_.segments[before].successors.push_back(static_cast<int32_t>(s));
    }
    for (bool is_async : {true, false}) {
      for (size_t s = 0; s < body_.segments.size(); ++s) {
        if (body_.segments[s].predecessors == 0 && body_.segments[s].is_async == is_async) body_.roots.push_back(static_cast<int32_t>(s));
      }
    }
    return OkStatus();
  }

  Status AddConstant(const Node& node, const PlanNode& made) {
    Value value;
    Cancellation cancellation;
    StepContext step;
    step.cancellation = &cancellation;
    NodeInfo info = made.info;
    info.first_output_slot = 0;
    KernelContext ctx(&info, &value, &step);
    Status status = made.kernel->Run(ctx);
    if (!status.ok()) return WithNode(status, node.name());
    const int32_t slot = body_.slot_count++;
    slot_of_[Output(const_cast<Node*>(&node), 0)] = slot;
    constant_slots_.insert(slot);
    body_.constants.emplace_back(slot, value.tensor);
    return OkStatus();
  }

  Status Slots() {
    for (const Output& feed : spec_.feeds) {
      const int32_t slot = body_.slot_count++;
      slot_of_[feed] = slot;
      body_.feed_slots.push_back(slot);
      body_.feed_types.push_back(feed.dtype());
      body_.feed_names.push_back(feed.name());
    }
    for (size_t i = 0; i < planned_.size(); ++i) {
      PlanNode& node = body_.nodes[i];
      node.info.first_output_slot = body_.slot_count;
      for (int k = 0; k < static_cast<int>(node.info.output_types.size()); ++k) {
        // A fed output is still computed if the node runs for another one, into a slot that nobody reads.
        const Output output(const_cast<Node*>(planned_[i]), k);
        if (!feeds_.contains(output)) slot_of_[output] = body_.slot_count;
        ++body_.slot_count;
      }
    }
    for (size_t i = 0; i < planned_.size(); ++i) {
      PlanNode& node = body_.nodes[i];
      const bool may_be_uninitialized = planned_[i]->op->def.allows_uninitialized_input;
      for (size_t k = 0; k < planned_[i]->inputs.size(); ++k) {
        const Output& input = planned_[i]->inputs[k];
        const int32_t slot = slot_of_.at(input);
        const bool is_ref = input.is_ref() && !feeds_.contains(input);
        if (IsRef(node.info.input_types[k])) {
          if (!is_ref) return WithNode(InvalidArgument("input ", k, " must be a variable, but a value is fed for ", input.name()), node.info.name);
          node.info.input_slots.push_back(slot);
          if (!may_be_uninitialized) node.checked_refs.push_back(slot);
        } else if (is_ref) {
          const int32_t value_slot = body_.slot_count++;
          node.dereferences.push_back({slot, value_slot});
          node.info.input_slots.push_back(value_slot);
        } else {
          node.info.input_slots.push_back(slot);
        }
      }
      std::string inputs;
      for (const Output& input : planned_[i]->inputs) {
        absl::StrAppend(&inputs, inputs.empty() ? "" : ", ", input.index == 0 ? input.node->name() : input.name());
      }
      for (const Node* control : planned_[i]->control_inputs) absl::StrAppend(&inputs, inputs.empty() ? "^" : ", ^", control->name());
      node.label = absl::StrCat(node.info.name, " = ", node.info.op, "(", inputs, ")");
    }
    for (const Output& fetch : spec_.fetches) body_.fetches.push_back({slot_of_.at(fetch), fetch.is_ref(), fetch.name()});
    return OkStatus();
  }

  // A value's last reader is known if all its readers are in one segment, which runs from left to right. Values that are read in
  // several segments live until the step ends.
  void FindLastReaders() {
    std::vector<std::vector<int32_t>> readers(body_.slot_count);
    for (size_t i = 0; i < body_.nodes.size(); ++i) {
      body_.nodes[i].info.is_last_reader.assign(body_.nodes[i].info.input_slots.size(), false);
      for (int32_t slot : body_.nodes[i].info.input_slots) readers[slot].push_back(static_cast<int32_t>(i));
    }
    std::vector<int32_t> segment_of_index(body_.nodes.size());
    for (size_t s = 0; s < body_.segments.size(); ++s) {
      for (int32_t i = body_.segments[s].begin; i < body_.segments[s].end; ++i) segment_of_index[i] = static_cast<int32_t>(s);
    }
    std::vector<int32_t> writer(body_.slot_count, -1);
    for (size_t i = 0; i < body_.nodes.size(); ++i) {
      for (size_t k = 0; k < body_.nodes[i].info.output_types.size(); ++k) writer[body_.nodes[i].info.first_output_slot + k] = static_cast<int32_t>(i);
    }
    std::vector<bool> is_kept(body_.slot_count, false);
    for (int32_t slot : constant_slots_) is_kept[slot] = true;
    std::vector<bool> is_fetched(body_.slot_count, false);
    for (const auto& fetch : body_.fetches) is_fetched[fetch.slot] = true;
    for (int32_t slot = 0; slot < body_.slot_count; ++slot) {
      if (is_kept[slot]) continue;
      const bool is_ref = writer[slot] >= 0 && IsRef(body_.nodes[writer[slot]].info.output_types[slot - body_.nodes[writer[slot]].info.first_output_slot]);
      if (is_fetched[slot] || is_ref) {
        body_.slots_freed_at_end.push_back(slot);
        continue;
      }
      if (readers[slot].empty()) {
        if (writer[slot] >= 0) {
          body_.nodes[writer[slot]].freed_slots.push_back(slot);
        } else {
          body_.slots_freed_at_end.push_back(slot);  // a feed that nobody reads
        }
        continue;
      }
      const int32_t last = *std::max_element(readers[slot].begin(), readers[slot].end());
      const bool is_ordered =
          std::all_of(readers[slot].begin(), readers[slot].end(), [&](int32_t r) { return segment_of_index[r] == segment_of_index[last]; });
      if (!is_ordered) {
        body_.slots_freed_at_end.push_back(slot);
        continue;
      }
      PlanNode& node = body_.nodes[last];
      node.freed_slots.push_back(slot);
      // A node that reads a value twice must not have it taken away under its other input.
      if (std::count(node.info.input_slots.begin(), node.info.input_slots.end(), slot) > 1) continue;
      for (size_t k = 0; k < node.info.input_slots.size(); ++k) {
        if (node.info.input_slots[k] == slot) node.info.is_last_reader[k] = true;
      }
    }
  }

  static constexpr int kOpen = 1, kDone = 2;
  const PlanSpec& spec_;
  Plan::Body& body_;
  absl::flat_hash_set<Output, EndpointHash> feeds_;
  absl::flat_hash_set<const Node*> fed_nodes_;
  absl::flat_hash_map<Node*, int> state_;
  std::vector<Node*> order_;
  absl::flat_hash_map<const Node*, int> segment_of_;
  absl::flat_hash_map<const Node*, int32_t> index_of_;
  std::vector<const Node*> planned_;  // in the order of body_.nodes
  absl::flat_hash_map<Output, int32_t, EndpointHash> slot_of_;
  absl::flat_hash_set<int32_t> constant_slots_;
};

}  // namespace

Status WithNode(const Status& status, absl::string_view node_name) {
  if (status.ok() || status.message().find("[[{{node ") != absl::string_view::npos) return status;
  Status named(status.code(), absl::StrCat(status.message(), "\n\t [[{{node ", node_name, "}}]]"));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) { named.SetPayload(url, payload); });
  return named;
}

StatusOr<std::unique_ptr<Kernel>> MakeKernelFor(const Node& node) {
  if (node.op == nullptr) {
    return NotFound("Op type not registered '", node.op_name(), "' in binary running on ", LocalHostName(), ". Tandem does not have this op (yet).");
  }
  return node.op->MakeKernel(node.attrs());
}

StatusOr<std::shared_ptr<Kernel>> KernelCache::GetOrMake(const Node& node) {
  MutexLock lock(&mu_);
  auto found = kernels_.find(node.name());
  if (found != kernels_.end()) return found->second;
  ASSIGN_OR_RETURN(std::unique_ptr<Kernel> made, MakeKernelFor(node));
  std::shared_ptr<Kernel> kernel = std::move(made);
  kernels_.emplace(node.name(), kernel);
  return kernel;
}

StatusOr<std::unique_ptr<Plan>> Plan::Make(const Graph& graph, const PlanSpec& spec) {
  auto body = std::make_unique<Body>();
  body->devices = spec.devices;
  RETURN_IF_ERROR(Builder(spec, body.get()).Build());
  return std::unique_ptr<Plan>(new Plan(std::move(body)));
}

}  // namespace tandem
