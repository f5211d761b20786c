// The contract between an op's kernel and the executor that runs it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "core/cancellation.h"
#include "core/status.h"
#include "kernel/device.h"
#include "kernel/rendezvous.h"
#include "kernel/trace.h"
#include "kernel/variable.h"
#include "tandem/tensor.h"

namespace tandem {

// What travels along an edge: a tensor, or a reference to a variable (ref-typed edges). A ref edge keeps the variable alive.
struct Value {
  Tensor tensor;
  std::shared_ptr<VariableStorage> ref;
};

// What all kernels of a step share. Outlives the step.
struct StepContext {
  int64_t step_id = 0;
  Rendezvous* rendezvous = nullptr;      // null if the graph has no _Send and _Recv
  Cancellation* cancellation = nullptr;  // never null
  ResourceManager* step_resources = nullptr;  // TemporaryVariable and kin; dropped with the step. Never null
  StepTrace* trace = nullptr;            // null unless traced
};

// What of a node does not change from step to step.
struct NodeInfo {
  std::string name, op;
  Device* device = nullptr;
  std::vector<DataType> input_types, output_types;  // ref types where the edge is a reference
  // Where inputs are in the step's values; a ref edge into a value input has a slot of its own with the dereferenced tensor.
  std::vector<int32_t> input_slots;
  int32_t first_output_slot = 0;
  // Bit i: nobody reads input i after this node, so its buffer may become an output (if it is unique besides).
  std::vector<bool> is_last_reader;
};

// One run of one node. Valid during Kernel::Run, or until `done` of AsyncKernel::Start was called.
class KernelContext {
 public:
  KernelContext() = default;
  KernelContext(const NodeInfo* node, Value* slots, StepContext* step) : node_(node), slots_(slots), step_(step) {}

  const std::string& node_name() const { return node_->name; }
  Device& device() const { return *node_->device; }
  ResourceManager& resources() const { return node_->device->resources(); }
  StepContext& step() const { return *step_; }
  Cancellation& cancellation() const { return *step_->cancellation; }

  int num_inputs() const { return static_cast<int>(node_->input_slots.size()); }
  DataType input_type(int i) const { return node_->input_types[i]; }
  const Tensor& input(int i) const { return slots_[node_->input_slots[i]].tensor; }
  // The variable behind a ref input. Never null: the executor has checked the type.
  const std::shared_ptr<VariableStorage>& ref_input(int i) const { return slots_[node_->input_slots[i]].ref; }
  // Whether input i is a ref edge that is not dereferenced.
  bool is_ref_input(int i) const { return IsRef(node_->input_types[i]); }
  // Takes input i away if nobody else reads it, so that the kernel may keep or overwrite it; shares it otherwise.
  Tensor TakeInput(int i);

  int num_outputs() const { return static_cast<int>(node_->output_types.size()); }
  DataType output_type(int i) const { return BaseType(node_->output_types[i]); }

  // A tensor of output i's type, uninitialised; strings are empty. It is the output already. ResourceExhausted without memory.
  StatusOr<Tensor*> Allocate(int output, const Shape& shape);
  // The same, but takes over the buffer of the first of `inputs` that nobody else reads and that has the same size and type.
  // The result then holds that input's numbers: read element i before writing element i.
  StatusOr<Tensor*> ForwardOrAllocate(absl::Span<const int> inputs, int output, const Shape& shape);
  // A tensor that is not an output.
  StatusOr<Tensor> AllocateTemporary(DataType dtype, const Shape& shape) const { return Tensor::Allocate(dtype, shape); }

  void set_output(int i, Tensor value) { slots_[node_->first_output_slot + i].tensor = std::move(value); }
  void set_ref_output(int i, std::shared_ptr<VariableStorage> variable) { slots_[node_->first_output_slot + i].ref = std::move(variable); }

 private:
  const NodeInfo* node_ = nullptr;
  Value* slots_ = nullptr;
  StepContext* step_ = nullptr;
};

// Made once per node. Steps may run it at the same time from several threads; state of its own needs a lock.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Must not wait for other ops. The executor adds the node's name to an error.
  virtual Status Run(KernelContext& ctx) = 0;
  virtual bool is_async() const { return false; }
};

// For ops that wait: _Recv, queues, accumulators.
class AsyncKernel : public Kernel {
 public:
  using Done = std::function<void(const Status&)>;
  // `done` runs exactly once, before or after Start returns, from any thread, and never under a lock that a kernel may take.
  // Must end early when ctx.cancellation() is cancelled.
  virtual void Start(KernelContext& ctx, Done done) = 0;
  Status Run(KernelContext&) final { return Internal("an asynchronous kernel was run as a synchronous one"); }
  bool is_async() const final { return true; }
};

}  // namespace tandem
