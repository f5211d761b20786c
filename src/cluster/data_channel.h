// The path on which tensors and the orders to run graphs go from this task to one peer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "cluster/outgoing_call.h"
#include "core/status.h"
#include "kernel/rendezvous.h"
#include "tandem/tensor.h"

namespace grpc {
class CompletionQueue;
}  // namespace grpc
namespace tensorflow {
class RunGraphResponse;
}  // namespace tensorflow

namespace tandem {

struct NamedTensor;
struct NamedTensorView;

// Thread-safe. All calls are asynchronous: `done` runs exactly once, possibly before the call returns, on the thread that brings the news.
// Errors: Unavailable if the peer cannot be reached or was lost; Cancelled after OutgoingCall::Cancel; otherwise what the peer says.
// An error that the peer marks as derived is marked here too.
class DataChannel {
 public:
  virtual ~DataChannel() = default;

  using TensorDone = std::function<void(const Status& status, const Tensor& value, bool is_dead)>;
  // Asks for a tensor of a step that the peer gives; it may come before the peer has begun the step.
  virtual std::shared_ptr<OutgoingCall> RecvTensor(int64_t step_id, const EdgeKey& key, TensorDone done) = 0;

  struct GraphCall {
    absl::string_view session_handle, graph_handle;
    int64_t step_id = 0;
    absl::Span<const NamedTensorView> sends;        // by full rendezvous key
    absl::Span<const std::string> recv_keys;
    bool record_timeline = false;
    bool record_partition_graphs = false;
    grpc::CompletionQueue* queue = nullptr;          // who waits for the reply, where the channel knows queues; null: its own threads
  };
  // `response` holds everything but the tensors.
  using GraphDone = std::function<void(const Status& status, std::vector<NamedTensor> tensors, const tensorflow::RunGraphResponse& response)>;
  // `call` and what it refers to need not outlive RunGraph.
  virtual std::shared_ptr<OutgoingCall> RunGraph(const GraphCall& call, GraphDone done) = 0;

  // Tells the peer that nobody will ask for anything of this step any more. Nothing waits for the answer.
  virtual void CleanupStep(int64_t step_id) = 0;
};

}  // namespace tandem
