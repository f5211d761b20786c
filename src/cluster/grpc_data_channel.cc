#include "cluster/grpc_data_channel.h"

#include <utility>

#include "cluster/message_buffer.h"
#include "cluster/tensor_codec.h"
#include "core/log.h"
#include "core/random.h"
#include "proto/worker.pb.h"

namespace tandem {
namespace {

// RunGraphRequest and RunGraphResponse.
constexpr uint32_t kSend = 3, kRecv = 1;

Status MarkIfDerived(Status status, bool is_derived) { return is_derived ? MarkDerived(std::move(status)) : status; }

}  // namespace

// Numbers that need not be secret, only different: splitmix64 from a random start.
static uint64_t NextNumber() {
  thread_local uint64_t state = RandomUint64();
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int64_t NewRequestId() { return static_cast<int64_t>(NextNumber() | 1); }
int64_t NewStepId() { return static_cast<int64_t>(NextNumber() >> 7); }

std::shared_ptr<OutgoingCall> GrpcDataChannel::RecvTensor(int64_t step_id, const EdgeKey& key, TensorDone done) {
  WireWriter request;
  request.VarintField(1, static_cast<uint64_t>(step_id));
  request.BytesField(2, key.full);
  request.VarintField(7, static_cast<uint64_t>(NewRequestId()));
  return channel_->Call(RpcMethod::kRecvTensor, request.Finish(), {}, [done = std::move(done)](RpcReply reply) {
    Tensor value;
    bool is_dead = false;
    Status status = MarkIfDerived(std::move(reply.status), reply.is_derived);
    if (status.ok()) status = DecodeRecvTensorResponse(reply.response, &value, &is_dead);
    done(status, value, is_dead);
  });
}

std::shared_ptr<OutgoingCall> GrpcDataChannel::RunGraph(const GraphCall& call, GraphDone done) {
  WireWriter request;
  request.BytesField(1, call.graph_handle);
  request.VarintField(2, static_cast<uint64_t>(call.step_id));
  for (const NamedTensorView& send : call.sends) EncodeNamedTensorField(kSend, send, &request);
  for (const std::string& key : call.recv_keys) request.BytesField(4, key);
  tensorflow::ExecutorOpts options;
  options.set_record_timeline(call.record_timeline);
  options.set_record_partition_graphs(call.record_partition_graphs);
  request.BytesField(5, options.SerializeAsString());
  request.BytesField(8, call.session_handle);
  request.VarintField(9, 1);   // store_errors_in_response_body
  request.VarintField(10, 1);  // create_worker_session_called
  request.VarintField(11, static_cast<uint64_t>(NewRequestId()));
  return channel_->Call(RpcMethod::kRunGraph, request.Finish(), {.queue = call.queue}, [done = std::move(done)](RpcReply reply) {
    tensorflow::RunGraphResponse response;
    std::vector<NamedTensor> tensors;
    Status status = std::move(reply.status);
    if (status.ok()) status = ParseWithNamedTensors(reply.response, kRecv, "result", &response, &tensors);
    if (status.ok() && response.status_code() != 0) {
      status = Status(static_cast<absl::StatusCode>(response.status_code()), response.status_error_message());
    }
    done(MarkIfDerived(std::move(status), reply.is_derived), std::move(tensors), response);
  });
}

void GrpcDataChannel::CleanupStep(int64_t step_id) {
  WireWriter request;
  request.VarintField(1, static_cast<uint64_t>(step_id));
  channel_->Call(RpcMethod::kCleanupGraph, request.Finish(), {}, [task = task_](RpcReply reply) {
    if (!reply.status.ok()) LogDebug("CleanupGraph at ", task, ": ", reply.status.message());
  });
}

}  // namespace tandem
