// A gRPC server of unary calls whose requests and replies are plain bytes.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/rpc_queue.h"
#include "core/mutex.h"
#include "core/status.h"

namespace tandem {

// One call that came in. It ends, once, by Reply or Fail; the object must not be used afterwards.
class IncomingCall {
 public:
  virtual const grpc::ByteBuffer& request() const = 0;
  virtual void Reply(grpc::ByteBuffer response) = 0;
  virtual void Fail(const Status& status) = 0;
  // `callback` runs once, on another thread, if the caller gives up before the call has ended; at once if it did so already.
  // It may still be running when Reply returns, so it must own what it uses.
  virtual void OnCancel(std::function<void()> callback) = 0;
  // Sent with the reply; for peers that know what it means.
  virtual void AddTrailer(const std::string& key, const std::string& value) = 0;
  virtual absl::string_view peer() = 0;

 protected:
  ~IncomingCall() = default;
};

class RpcServer {
 public:
  // Runs on the thread that received the call and must not wait for long; it may keep `call` and end it later.
  using Handler = std::function<void(IncomingCall* call)>;

  RpcServer();
  ~RpcServer();

  // "/tensorflow.WorkerService/RunGraph". Before Start. Unknown methods get Unimplemented without a text, as from TensorFlow.
  void AddMethod(std::string path, Handler handler);
  // Listens on "host:port" only; port 0 picks one. Unavailable, naming the address, if it is taken.
  StatusOr<int> Start(const std::string& address, int max_threads);
  // For the outgoing calls of this task; polled from Start to StopThreads.
  grpc::CompletionQueue* queue() const;
  // Refuses new calls, cancels those in flight, and waits until all have ended. Then no handler runs any more. Outgoing calls must
  // have ended when StopThreads is called.
  void Stop();
  void StopThreads();

 private:
  class Call;
  class Service;
  std::unique_ptr<Service> service_;
  std::vector<Handler> handlers_;
  grpc::ServerBuilder builder_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<RpcThreads> threads_;
  Mutex mu_;
  int calls_in_flight_ ABSL_GUARDED_BY(mu_) = 0;
  bool is_stopping_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace tandem
