#include "cluster/rpc_server.h"

#include <grpc/support/log.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/async_unary_call.h>

#include <atomic>
#include <climits>
#include <utility>

#include "cluster/rpc_status.h"
#include "core/log.h"
#include "core/net_address.h"

namespace tandem {

// Declares the methods by name, as bytes, without the generated services.
class RpcServer::Service : public grpc::Service {
 public:
  void Add(const std::string& path) {
    paths_.push_back(std::make_unique<std::string>(path));
    AddMethod(new grpc::internal::RpcServiceMethod(paths_.back()->c_str(), grpc::internal::RpcMethod::NORMAL_RPC, nullptr));
    MarkMethodRaw(static_cast<int>(paths_.size()) - 1);
  }
  void Accept(int method, grpc::ServerContext* context, grpc::ByteBuffer* request, grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>* writer,
              grpc::ServerCompletionQueue* queue, void* tag) {
    RequestAsyncUnary(method, context, request, writer, queue, queue, tag);
  }

 private:
  void MarkMethodRaw(int index) { MarkMethodAsync(index); }
  std::vector<std::unique_ptr<std::string>> paths_;
};

// Waits for one call of its method, then serves it. Deleted when gRPC has returned the last of its events.
class RpcServer::Call final : public IncomingCall {
 public:
  Call(RpcServer* server, int method) : server_(server), method_(method), writer_(&context_), accepted_(this), gone_(this), finished_(this) {}

  // False if the server stops.
  static bool Accept(RpcServer* server, int method) {
    MutexLock lock(&server->mu_);
    if (server->is_stopping_) return false;
    ++server->calls_in_flight_;
    Call* call = new Call(server, method);
    call->context_.AsyncNotifyWhenDone(&call->gone_);
    server->service_->Accept(method, &call->context_, &call->request_, &call->writer_, server->queue_.get(), &call->accepted_);
    return true;
  }

  const grpc::ByteBuffer& request() const override { return request_; }
  void Reply(grpc::ByteBuffer response) override {
    DropCallback();
    response_ = std::move(response);
    writer_.Finish(response_, grpc::Status::OK, &finished_);
  }
  void Fail(const Status& status) override {
    DropCallback();
    writer_.FinishWithError(StatusToGrpc(status), &finished_);
  }
  void OnCancel(std::function<void()> callback) override {
    {
      MutexLock lock(&mu_);
      if (!is_gone_) {
        on_cancel_ = std::move(callback);
        return;
      }
    }
    callback();
  }
  void AddTrailer(const std::string& key, const std::string& value) override { context_.AddTrailingMetadata(key, value); }
  absl::string_view peer() override {
    if (peer_.empty()) peer_ = context_.peer();
    return peer_;
  }

 private:
  template <void (Call::*method)(bool)>
  struct Event final : RpcEvent {
    explicit Event(Call* c) : call(c) {}
    void Proceed(bool ok) override { (call->*method)(ok); }
    Call* call;
  };

  void Accepted(bool ok) {
    if (!ok) {  // the server stops; the other events never come
      Delete();
      return;
    }
    Call::Accept(server_, method_);
    server_->handlers_[method_](this);
  }
  void Gone(bool) {
    std::function<void()> callback;
    if (context_.IsCancelled()) {
      MutexLock lock(&mu_);
      is_gone_ = true;
      callback.swap(on_cancel_);
    }
    if (callback) callback();
    Unref();
  }
  void Finished(bool) { Unref(); }
  void DropCallback() {
    std::function<void()> dropped;
    MutexLock lock(&mu_);
    dropped.swap(on_cancel_);
  }
  void Unref() {
    if (events_left_.fetch_sub(1) == 1) Delete();
  }
  void Delete() {
    RpcServer* server = server_;
    delete this;
    MutexLock lock(&server->mu_);
    --server->calls_in_flight_;
  }

  RpcServer* const server_;
  const int method_;
  grpc::ServerContext context_;
  grpc::ByteBuffer request_, response_;
  grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> writer_;
  std::string peer_;
  Event<&Call::Accepted> accepted_;
  Event<&Call::Gone> gone_;
  Event<&Call::Finished> finished_;
  std::atomic<int> events_left_{2};  // gone and finished
  Mutex mu_;
  bool is_gone_ ABSL_GUARDED_BY(mu_) = false;
  std::function<void()> on_cancel_ ABSL_GUARDED_BY(mu_);
};

// gRPC's own lines are for who looks for a fault in it; what matters comes back as a status.
static void QuietenGrpc() {
  static const bool is_done = [] {
    gpr_set_log_function([](gpr_log_func_args* line) { LogDebug("grpc: ", line->message); });
    return true;
  }();
  (void)is_done;
}

RpcServer::RpcServer() : service_(std::make_unique<Service>()), queue_(builder_.AddCompletionQueue()) {}

RpcServer::~RpcServer() {
  Stop();
  StopThreads();
}

void RpcServer::AddMethod(std::string path, Handler handler) {
  service_->Add(path);
  handlers_.push_back(std::move(handler));
}

StatusOr<int> RpcServer::Start(const std::string& address, int max_threads) {
  QuietenGrpc();
  // gRPC does not tell its caller why it cannot listen.
  ASSIGN_OR_RETURN(HostPort host_port, ParseHostPort(address));
  RETURN_IF_ERROR(CheckCanListen(host_port));
  int port = 0;
  builder_.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder_.RegisterService(service_.get());
  builder_.SetMaxReceiveMessageSize(INT_MAX);
  builder_.SetMaxSendMessageSize(INT_MAX);
  builder_.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  server_ = builder_.BuildAndStart();
  if (server_ == nullptr || port == 0) {
    server_ = nullptr;
    return Unavailable("cannot listen on ", address, ": the port is in use");
  }
  for (size_t i = 0; i < handlers_.size(); ++i) Call::Accept(this, static_cast<int>(i));
  threads_ = std::make_unique<RpcThreads>(queue_.get(), max_threads);
  return port;
}

grpc::CompletionQueue* RpcServer::queue() const { return queue_.get(); }

void RpcServer::Stop() {
  if (server_ == nullptr) return;
  {
    MutexLock lock(&mu_);
    if (is_stopping_) return;
    is_stopping_ = true;
  }
  server_->Shutdown(std::chrono::system_clock::now());
  MutexLock lock(&mu_);
  auto is_idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return calls_in_flight_ == 0; };
  mu_.Await(absl::Condition(&is_idle));
}

void RpcServer::StopThreads() {
  if (threads_ == nullptr) threads_ = std::make_unique<RpcThreads>(queue_.get(), 1);  // never started; the queue wants to be emptied all the same
  threads_->Stop();
}

}  // namespace tandem
