#include "cluster/grpc_session.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "absl/strings/strip.h"
#include "cluster/grpc_data_channel.h"
#include "cluster/rpc_client.h"
#include "cluster/rpc_queue.h"
#include "cluster/tensor_codec.h"
#include "core/cancellation.h"
#include "core/net_address.h"
#include "core/random.h"
#include "proto/master.pb.h"

namespace tandem {
namespace {

// Fields that hold tensors, in RunStepRequest, RunStepResponse, RunCallableRequest and RunCallableResponse.
constexpr uint32_t kStepFeed = 2, kStepTensor = 1, kCallableFeed = 3, kCallableFetch = 1;
constexpr int kMaxRetries = 10;
constexpr int64_t kCloseTimeoutMs = 20000;  // a master waits up to 10 s for tasks that are down

// The connection of a client process: a queue and threads of its own.
class Connection {
 public:
  explicit Connection(const std::string& address) : threads_(&queue_, 16), client_(&queue_), channel_(client_.Channel(address)) {}
  ~Connection() {
    Stop();
    threads_.Stop();
  }

  // Ends the calls in flight, and those to come, with Cancelled.
  void Stop() { client_.Stop(); }

  // Tries again while the master is Unavailable: after 1 ms, then 1.3 times as long each time, give or take 40 %, at most 10 s.
  // Only the making of a session waits for a master that is not there yet.
  StatusOr<grpc::ByteBuffer> Call(RpcMethod method, const grpc::ByteBuffer& request, int64_t timeout_ms) {
    const bool waits = method == RpcMethod::kCreateSession || method == RpcMethod::kReset;
    for (int attempt = 0;; ++attempt) {
      RpcReply reply = channel_->CallAndWait(method, request, {.wait_for_ready = waits, .deadline_ms = timeout_ms});
      if (reply.status.ok()) return std::move(reply.response);
      if (reply.status.code() != absl::StatusCode::kUnavailable || attempt == kMaxRetries) return reply.status;
      const double jitter = 0.6 + 0.8 * static_cast<double>(RandomUint64() >> 11) / static_cast<double>(uint64_t{1} << 53);
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(std::min(10000.0, std::pow(1.3, attempt) * jitter)));
    }
  }

 private:
  grpc::CompletionQueue queue_;
  RpcThreads threads_;
  RpcClient client_;
  RpcChannel* const channel_;
};

StatusOr<std::string> AddressOf(const std::string& target) {
  absl::string_view address = target;
  if (!absl::ConsumePrefix(&address, "grpc://")) return InvalidArgument("\"", target, "\" is not a target; a target is grpc://host:port");
  RETURN_IF_ERROR(ParseHostPort(address).status());
  return std::string(address);
}

class GrpcSession : public SessionBackend {
 public:
  GrpcSession(std::string target, const std::string& address, const tensorflow::ConfigProto& config)
      : target_(std::move(target)), config_(config), connection_(address) {}
  ~GrpcSession() override { Close().IgnoreError(); }  // the master collects what cannot be closed

  Status Extend(const tensorflow::GraphDef& graph) override {
    MutexLock lock(&extend_mu_);
    std::string handle;
    RETURN_IF_ERROR(Handle(&handle));
    if (handle.empty()) return Create(graph);
    tensorflow::ExtendSessionRequest request;
    request.set_session_handle(handle);
    *request.mutable_graph_def() = graph;
    request.set_current_graph_version(version_);
    tensorflow::ExtendSessionResponse response;
    RETURN_IF_ERROR(Call(RpcMethod::kExtendSession, SerializeMessage(request), &response));
    version_ = response.new_graph_version();
    return OkStatus();
  }

  Status Run(const RunRequest& run, std::vector<Tensor>* outputs) override {
    tensorflow::RunStepRequest request;
    RETURN_IF_ERROR(CreatedHandle(request.mutable_session_handle()));
    for (const std::string& fetch : run.fetches) request.add_fetch(fetch);
    for (const std::string& target : run.targets) request.add_target(target);
    if (run.options != nullptr) *request.mutable_options() = *run.options;
    int64_t timeout_ms = request.mutable_options()->timeout_in_ms();
    if (timeout_ms == 0) timeout_ms = config_.operation_timeout_in_ms();
    request.mutable_options()->set_timeout_in_ms(timeout_ms);
    request.set_store_errors_in_response_body(true);
    request.set_request_id(NewRequestId());
    std::vector<NamedTensorView> feeds;
    for (const auto& [name, value] : run.feeds) feeds.push_back({name, &value});
    ASSIGN_OR_RETURN(grpc::ByteBuffer reply, connection_.Call(RpcMethod::kRunStep, SerializeWithNamedTensors(request, kStepFeed, feeds), timeout_ms));
    tensorflow::RunStepResponse response;
    std::vector<NamedTensor> tensors;
    RETURN_IF_ERROR(ParseWithNamedTensors(reply, kStepTensor, "fetch", &response, &tensors));
    if (response.status_code() != 0) return Status(static_cast<absl::StatusCode>(response.status_code()), response.status_error_message());
    if (run.metadata != nullptr) run.metadata->Swap(response.mutable_metadata());
    outputs->clear();
    for (const std::string& fetch : run.fetches) {
      auto found = std::find_if(tensors.begin(), tensors.end(), [&](const NamedTensor& tensor) { return tensor.name == fetch; });
      if (found == tensors.end()) return Internal("the master at ", target_, " did not return ", fetch);
      outputs->push_back(found->tensor);
    }
    return OkStatus();
  }

  StatusOr<int64_t> MakeCallable(const tensorflow::CallableOptions& options) override {
    tensorflow::MakeCallableRequest request;
    RETURN_IF_ERROR(CreatedHandle(request.mutable_session_handle()));
    *request.mutable_options() = options;
    request.set_request_id(NewRequestId());
    tensorflow::MakeCallableResponse response;
    RETURN_IF_ERROR(Call(RpcMethod::kMakeCallable, SerializeMessage(request), &response));
    return response.handle();
  }

  Status RunCallable(int64_t handle, absl::Span<const Tensor> feeds, std::vector<Tensor>* outputs, tensorflow::RunMetadata* metadata) override {
    tensorflow::RunCallableRequest request;
    RETURN_IF_ERROR(CreatedHandle(request.mutable_session_handle()));
    request.set_handle(handle);
    request.set_request_id(NewRequestId());
    ASSIGN_OR_RETURN(grpc::ByteBuffer reply, connection_.Call(RpcMethod::kRunCallable, SerializeWithTensors(request, kCallableFeed, feeds), config_.operation_timeout_in_ms()));
    tensorflow::RunCallableResponse response;
    outputs->clear();
    RETURN_IF_ERROR(ParseWithTensors(reply, kCallableFetch, "fetch", &response, outputs));
    if (metadata != nullptr) metadata->Swap(response.mutable_metadata());
    return OkStatus();
  }

  Status ReleaseCallable(int64_t handle) override {
    tensorflow::ReleaseCallableRequest request;
    RETURN_IF_ERROR(CreatedHandle(request.mutable_session_handle()));
    request.set_handle(handle);
    tensorflow::ReleaseCallableResponse response;
    return Call(RpcMethod::kReleaseCallable, SerializeMessage(request), &response);
  }

  Status ListDevices(std::vector<tensorflow::DeviceAttributes>* devices) override {
    tensorflow::ListDevicesRequest request;
    RETURN_IF_ERROR(CreatedHandle(request.mutable_session_handle()));
    tensorflow::ListDevicesResponse response;
    RETURN_IF_ERROR(Call(RpcMethod::kListDevices, SerializeMessage(request), &response));
    devices->assign(response.local_device().begin(), response.local_device().end());
    devices->insert(devices->end(), response.remote_device().begin(), response.remote_device().end());
    return OkStatus();
  }

  Status Close() override {
    tensorflow::CloseSessionRequest request;
    {
      MutexLock lock(&mu_);
      is_closed_ = true;
      request.set_session_handle(std::exchange(handle_, ""));
    }
    Status status;
    if (!request.session_handle().empty()) {
      const int64_t timeout_ms = config_.operation_timeout_in_ms();
      status = connection_.Call(RpcMethod::kCloseSession, SerializeMessage(request), timeout_ms > 0 ? timeout_ms : kCloseTimeoutMs).status();
    }
    connection_.Stop();
    return status;
  }

 private:
  template <typename Response>
  Status Call(RpcMethod method, const grpc::ByteBuffer& request, Response* response) {
    ASSIGN_OR_RETURN(grpc::ByteBuffer reply, connection_.Call(method, request, config_.operation_timeout_in_ms()));
    return ParseMessage(reply, response);
  }

  // Empty if there is no session yet.
  Status Handle(std::string* handle) {
    absl::ReaderMutexLock lock(&mu_);
    if (is_closed_) return FailedPrecondition("Session is closed.");
    *handle = handle_;
    return OkStatus();
  }

  Status CreatedHandle(std::string* handle) {
    RETURN_IF_ERROR(Handle(handle));
    if (!handle->empty()) return OkStatus();
    MutexLock lock(&extend_mu_);
    RETURN_IF_ERROR(Handle(handle));
    if (handle->empty()) RETURN_IF_ERROR(Create(tensorflow::GraphDef()));
    return Handle(handle);
  }

  Status Create(const tensorflow::GraphDef& graph) ABSL_EXCLUSIVE_LOCKS_REQUIRED(extend_mu_) {
    tensorflow::CreateSessionRequest request;
    *request.mutable_graph_def() = graph;
    *request.mutable_config() = config_;
    request.set_target(target_);
    tensorflow::CreateSessionResponse response;
    RETURN_IF_ERROR(Call(RpcMethod::kCreateSession, SerializeMessage(request), &response));
    if (response.session_handle().empty()) return Internal("the master at ", target_, " made a session without a handle");
    version_ = response.graph_version();
    MutexLock lock(&mu_);
    handle_ = response.session_handle();
    return OkStatus();
  }

  const std::string target_;
  const tensorflow::ConfigProto config_;
  Connection connection_;

  Mutex extend_mu_;
  int64_t version_ ABSL_GUARDED_BY(extend_mu_) = 0;
  Mutex mu_ ABSL_ACQUIRED_AFTER(extend_mu_);
  std::string handle_ ABSL_GUARDED_BY(mu_);
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace

StatusOr<std::unique_ptr<SessionBackend>> NewGrpcSession(const std::string& target, const tensorflow::ConfigProto& config) {
  ASSIGN_OR_RETURN(std::string address, AddressOf(target));
  return std::unique_ptr<SessionBackend>(std::make_unique<GrpcSession>(target, address, config));
}

Status ResetMaster(const std::string& target, absl::Span<const std::string> containers) {
  ASSIGN_OR_RETURN(std::string address, AddressOf(target));
  tensorflow::ResetRequest request;
  for (const std::string& container : containers) request.add_container(container);
  Connection connection(address);
  return connection.Call(RpcMethod::kReset, SerializeMessage(request), 0).status();
}

}  // namespace tandem
