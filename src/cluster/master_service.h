// The master behind gRPC: /tensorflow.MasterService/*.
#pragma once

#include "cluster/master.h"
#include "cluster/request_ids.h"
#include "cluster/rpc_server.h"

namespace tandem {

class MasterService {
 public:
  // Both must outlive this, and this the calls of the server.
  explicit MasterService(Master* master) : master_(master) {}
  void AddTo(RpcServer* server);

 private:
  // These run on the blocking threads.
  void CreateSession(IncomingCall* call);
  void ExtendSession(IncomingCall* call);
  void CloseSession(IncomingCall* call);
  void ListDevices(IncomingCall* call);
  void Reset(IncomingCall* call);
  void MakeCallable(IncomingCall* call);
  void PartialRunSetup(IncomingCall* call);
  // These on the thread that received the call.
  void RunStep(IncomingCall* call);
  void RunCallable(IncomingCall* call);
  void ReleaseCallable(IncomingCall* call);

  Master* const master_;
  RequestIds request_ids_{10000};
};

}  // namespace tandem
