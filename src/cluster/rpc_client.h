// Calls to other tasks.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "cluster/outgoing_call.h"
#include "core/mutex.h"
#include "core/status.h"

namespace tandem {

enum class RpcMethod {
  kGetStatus,
  kCreateWorkerSession,
  kDeleteWorkerSession,
  kRegisterGraph,
  kDeregisterGraph,
  kRunGraph,
  kCleanupGraph,
  kCleanupAll,
  kRecvTensor,
  kLogging,
  kHello,  // of our own service: which protocol extensions does the peer speak
  kCreateSession,
  kExtendSession,
  kRunStep,
  kCloseSession,
  kListDevices,
  kReset,
  kMakeCallable,
  kRunCallable,
  kReleaseCallable,
  kCount,
};
const char* RpcMethodPath(RpcMethod method);

struct RpcReply {
  Status status;
  grpc::ByteBuffer response;
  bool is_derived = false;  // the peer, one of ours, says that its error follows from another one
};

struct RpcOptions {
  bool wait_for_ready = false;  // wait until the peer is there instead of failing with Unavailable
  int64_t deadline_ms = 0;      // 0: none
  grpc::CompletionQueue* queue = nullptr;  // who waits for the reply; null: the channel's own
};

class RpcClient;

// A connection to one address, made when first used and again after it was lost. Thread-safe.
class RpcChannel {
 public:
  using Done = std::function<void(RpcReply reply)>;

  const std::string& address() const { return address_; }
  // `done` runs exactly once, on a thread that polls the queue; at once if the client has stopped.
  std::shared_ptr<OutgoingCall> Call(RpcMethod method, const grpc::ByteBuffer& request, const RpcOptions& options, Done done);
  // The same, waiting; not from a polling thread.
  RpcReply CallAndWait(RpcMethod method, const grpc::ByteBuffer& request, const RpcOptions& options);

 private:
  friend class RpcClient;
  RpcChannel(const std::string& address, RpcClient* client);

  const std::string address_;
  RpcClient* const client_;
  const std::shared_ptr<grpc::Channel> channel_;
  std::vector<grpc::internal::RpcMethod> methods_;
};

// All outgoing calls of a task.
class RpcClient {
 public:
  // Replies are waited for on `queue` if a call names no other.
  explicit RpcClient(grpc::CompletionQueue* queue) : queue_(queue) {}

  // One per address. Lives as long as the client.
  RpcChannel* Channel(const std::string& address);
  // Cancels all calls and waits until they have ended; not from a polling thread. Later calls fail with Cancelled.
  void Stop();

 private:
  friend class RpcChannel;
  class Call;

  grpc::CompletionQueue* const queue_;
  Mutex mu_;
  absl::flat_hash_map<std::string, std::unique_ptr<RpcChannel>> channels_ ABSL_GUARDED_BY(mu_);
  Call* first_ ABSL_GUARDED_BY(mu_) = nullptr;  // those in flight, a linked list
  bool is_stopped_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace tandem
