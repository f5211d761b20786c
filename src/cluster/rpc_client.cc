#include "cluster/rpc_client.h"

#include <grpcpp/support/async_unary_call.h>

#include <atomic>
#include <climits>
#include <utility>

#include "absl/synchronization/notification.h"
#include "cluster/rpc_queue.h"
#include "cluster/rpc_status.h"

namespace tandem {

const char* RpcMethodPath(RpcMethod method) {
  static constexpr const char* kPaths[] = {
      "/tensorflow.WorkerService/GetStatus",      "/tensorflow.WorkerService/CreateWorkerSession", "/tensorflow.WorkerService/DeleteWorkerSession",
      "/tensorflow.WorkerService/RegisterGraph",  "/tensorflow.WorkerService/DeregisterGraph",     "/tensorflow.WorkerService/RunGraph",
      "/tensorflow.WorkerService/CleanupGraph",   "/tensorflow.WorkerService/CleanupAll",          "/tensorflow.WorkerService/RecvTensor",
      "/tensorflow.WorkerService/Logging",        "/tandem.PeerService/Hello",                     "/tensorflow.MasterService/CreateSession",
      "/tensorflow.MasterService/ExtendSession",  "/tensorflow.MasterService/RunStep",             "/tensorflow.MasterService/CloseSession",
      "/tensorflow.MasterService/ListDevices",    "/tensorflow.MasterService/Reset",               "/tensorflow.MasterService/MakeCallable",
      "/tensorflow.MasterService/RunCallable",    "/tensorflow.MasterService/ReleaseCallable"};
  static_assert(sizeof(kPaths) / sizeof(kPaths[0]) == static_cast<size_t>(RpcMethod::kCount));
  return kPaths[static_cast<size_t>(method)];
}

class RpcClient::Call final : public OutgoingCall, public RpcEvent {
 public:
  Call(RpcClient* client, RpcChannel::Done done) : client_(client), done_(std::move(done)) {}

  void Cancel() override {
    is_cancelled_.store(true);
    context_.TryCancel();
  }

  void Proceed(bool) override {
    RpcReply reply{StatusFromGrpc(status_), std::move(response_)};
    // A server that shuts down cancels its calls with these words, and nobody here wanted that.
    if (status_.error_code() == grpc::StatusCode::CANCELLED && status_.error_message() == "CANCELLED" && !is_cancelled_.load()) {
      reply.status = Unavailable("the task ended while it was called");
    }
    if (!status_.ok() || context_.GetServerTrailingMetadata().size() > 0) {
      reply.is_derived = context_.GetServerTrailingMetadata().count("tandem-derived") > 0 || IsDerived(reply.status);
    }
    RpcChannel::Done done = std::move(done_);
    done(std::move(reply));
    std::shared_ptr<Call> self = std::move(self_);  // goes at the end of this function, after the client was told
    MutexLock lock(&client_->mu_);
    (previous_ == nullptr ? client_->first_ : previous_->next_) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
  }

  RpcClient* const client_;
  RpcChannel::Done done_;
  std::atomic<bool> is_cancelled_{false};
  std::shared_ptr<Call> self_;  // until the reply is there
  Call* previous_ = nullptr;
  Call* next_ = nullptr;
  grpc::ClientContext context_;
  grpc::ByteBuffer response_;
  grpc::Status status_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> reader_;
};

RpcChannel* RpcClient::Channel(const std::string& address) {
  MutexLock lock(&mu_);
  std::unique_ptr<RpcChannel>& channel = channels_[address];
  if (channel == nullptr) channel.reset(new RpcChannel(address, this));
  return channel.get();
}

void RpcClient::Stop() {
  MutexLock lock(&mu_);
  is_stopped_ = true;
  for (Call* call = first_; call != nullptr; call = call->next_) call->Cancel();
  auto is_idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return first_ == nullptr; };
  mu_.Await(absl::Condition(&is_idle));
}

static std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(INT_MAX);
  arguments.SetMaxSendMessageSize(INT_MAX);
  // Tasks of a job start together: one that is not there yet is there in a moment.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  return grpc::CreateCustomChannel("dns:///" + address, grpc::InsecureChannelCredentials(), arguments);
}

RpcChannel::RpcChannel(const std::string& address, RpcClient* client) : address_(address), client_(client), channel_(MakeChannel(address)) {
  // Registered once, so that a call need not build and hash its path.
  for (int i = 0; i < static_cast<int>(RpcMethod::kCount); ++i) {
    methods_.emplace_back(RpcMethodPath(static_cast<RpcMethod>(i)), grpc::internal::RpcMethod::NORMAL_RPC, channel_);
  }
}

std::shared_ptr<OutgoingCall> RpcChannel::Call(RpcMethod method, const grpc::ByteBuffer& request, const RpcOptions& options, Done done) {
  auto call = std::make_shared<RpcClient::Call>(client_, std::move(done));
  call->context_.set_wait_for_ready(options.wait_for_ready);
  if (options.deadline_ms > 0) call->context_.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(options.deadline_ms));
  {
    MutexLock lock(&client_->mu_);
    if (!client_->is_stopped_) {
      call->self_ = call;
      call->next_ = client_->first_;
      if (client_->first_ != nullptr) client_->first_->previous_ = call.get();
      client_->first_ = call.get();
    }
  }
  if (call->self_ == nullptr) {
    Done refused = std::move(call->done_);
    refused({Cancelled("this task is stopping"), grpc::ByteBuffer()});
    return call;
  }
  call->reader_.reset(grpc::internal::ClientAsyncResponseReaderHelper::Create<grpc::ByteBuffer, grpc::ByteBuffer, grpc::ByteBuffer, grpc::ByteBuffer>(
      channel_.get(), options.queue != nullptr ? options.queue : client_->queue_, methods_[static_cast<size_t>(method)], &call->context_, request));
  call->reader_->StartCall();
  // From here on the call may end at any moment; `call` itself keeps it alive.
  call->reader_->Finish(&call->response_, &call->status_, static_cast<RpcEvent*>(call.get()));
  return call;
}

RpcReply RpcChannel::CallAndWait(RpcMethod method, const grpc::ByteBuffer& request, const RpcOptions& options) {
  absl::Notification is_done;
  RpcReply result;
  Call(method, request, options, [&](RpcReply reply) {
    result = std::move(reply);
    is_done.Notify();
  });
  is_done.WaitForNotification();
  return result;
}

}  // namespace tandem
