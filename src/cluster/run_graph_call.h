// One RunGraph that came in by gRPC.
#pragma once

#include "cluster/request_ids.h"
#include "cluster/rpc_server.h"
#include "cluster/worker.h"

namespace tandem {

class RunGraphCall {
 public:
  // Ends `call`, now or later. A caller that gives up cancels the run.
  static void Start(Worker* worker, RequestIds* ids, IncomingCall* call);
};

}  // namespace tandem
