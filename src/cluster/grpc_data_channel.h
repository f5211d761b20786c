// The standard protocol: what any TensorFlow task understands.
#pragma once

#include "cluster/data_channel.h"
#include "cluster/rpc_client.h"

namespace tandem {

class GrpcDataChannel : public DataChannel {
 public:
  // `task` is the peer's name, for messages.
  GrpcDataChannel(std::string task, RpcChannel* channel) : task_(std::move(task)), channel_(channel) {}

  std::shared_ptr<OutgoingCall> RecvTensor(int64_t step_id, const EdgeKey& key, TensorDone done) override;
  std::shared_ptr<OutgoingCall> RunGraph(const GraphCall& call, GraphDone done) override;
  void CleanupStep(int64_t step_id) override;

 private:
  const std::string task_;
  RpcChannel* const channel_;
};

// A random number that is not 0: requests carry one, so that a peer notices one that it gets twice.
int64_t NewRequestId();
// Random, with the upper bits clear as TensorFlow wants it.
int64_t NewStepId();

}  // namespace tandem
