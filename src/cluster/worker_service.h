// The worker behind gRPC: /tensorflow.WorkerService/*, and /tandem.PeerService/Hello, by which our tasks recognise each other.
#pragma once

#include "cluster/request_ids.h"
#include "cluster/rpc_server.h"
#include "cluster/worker.h"

namespace tandem {

class WorkerService {
 public:
  // Both must outlive this, and this the calls of the server.
  explicit WorkerService(Worker* worker) : worker_(worker) {}
  void AddTo(RpcServer* server);

 private:
  void GetStatus(IncomingCall* call);
  void CreateWorkerSession(IncomingCall* call);
  void DeleteWorkerSession(IncomingCall* call);
  void RegisterGraph(IncomingCall* call);
  void DeregisterGraph(IncomingCall* call);
  void RunGraph(IncomingCall* call);
  void CleanupGraph(IncomingCall* call);
  void CleanupAll(IncomingCall* call);
  void RecvTensor(IncomingCall* call);
  void GetStepSequence(IncomingCall* call);

  Worker* const worker_;
  RequestIds run_ids_{100000}, recv_ids_{100000};
};

// The largest version of the peer protocol that this build speaks; the answer to Hello. 1: a step of which nothing can be left behind
// needs no CleanupGraph.
constexpr int kPeerProtocol = 1;

}  // namespace tandem
