#include "cluster/master_service.h"

#include <utility>

#include "cluster/rpc_client.h"
#include "cluster/tensor_codec.h"
#include "proto/master.pb.h"

namespace tandem {
namespace {

// Fields that hold tensors, in RunStepRequest, RunStepResponse, RunCallableRequest and RunCallableResponse.
constexpr uint32_t kStepFeed = 2, kStepTensor = 1, kCallableFeed = 3, kCallableFetch = 1;

template <typename Response>
void ReplyOr(IncomingCall* call, const Status& status, const Response& response) {
  if (status.ok()) {
    call->Reply(SerializeMessage(response));
  } else {
    call->Fail(status);
  }
}

// Cancelled when the caller of `call` gives up; lives as long as anybody needs it.
std::shared_ptr<Cancellation> CancelledWith(IncomingCall* call) {
  auto cancellation = std::make_shared<Cancellation>();
  call->OnCancel([cancellation] { cancellation->Cancel(Cancelled("the caller has given up")); });
  return cancellation;
}

std::shared_ptr<MasterSession::Ticket> TicketOf(IncomingCall* call) {
  auto ticket = std::make_shared<MasterSession::Ticket>();
  call->OnCancel([ticket] { ticket->Cancel(Cancelled("the client has given up the step")); });
  return ticket;
}

grpc::ByteBuffer SerializeFetches(const tensorflow::RunStepRequest& request, absl::Span<const Tensor> values, const tensorflow::RunStepResponse& response) {
  absl::InlinedVector<NamedTensorView, 8> tensors;
  for (size_t i = 0; i < values.size(); ++i) tensors.push_back({request.fetch(static_cast<int>(i)), &values[i]});
  return SerializeWithNamedTensors(response, kStepTensor, tensors);
}

}  // namespace

void MasterService::AddTo(RpcServer* server) {
  using Handler = void (MasterService::*)(IncomingCall*);
  auto blocking = [this, server](RpcMethod method, Handler handler) {
    server->AddMethod(RpcMethodPath(method), [this, handler](IncomingCall* call) { master_->env().blocking->Schedule([=, this] { (this->*handler)(call); }); });
  };
  auto inline_ = [this, server](RpcMethod method, Handler handler) {
    server->AddMethod(RpcMethodPath(method), [this, handler](IncomingCall* call) { (this->*handler)(call); });
  };
  blocking(RpcMethod::kCreateSession, &MasterService::CreateSession);
  blocking(RpcMethod::kExtendSession, &MasterService::ExtendSession);
  blocking(RpcMethod::kCloseSession, &MasterService::CloseSession);
  blocking(RpcMethod::kListDevices, &MasterService::ListDevices);
  blocking(RpcMethod::kReset, &MasterService::Reset);
  blocking(RpcMethod::kMakeCallable, &MasterService::MakeCallable);
  inline_(RpcMethod::kRunStep, &MasterService::RunStep);
  inline_(RpcMethod::kRunCallable, &MasterService::RunCallable);
  inline_(RpcMethod::kReleaseCallable, &MasterService::ReleaseCallable);
  server->AddMethod("/tensorflow.MasterService/PartialRunSetup",
                    [this](IncomingCall* call) { master_->env().blocking->Schedule([this, call] { PartialRunSetup(call); }); });
}

void MasterService::CreateSession(IncomingCall* call) {
  tensorflow::CreateSessionRequest request;
  Status status = ParseMessage(call->request(), &request);
  if (!status.ok()) return call->Fail(status);
  const std::shared_ptr<Cancellation> cancellation = CancelledWith(call);
  StatusOr<std::shared_ptr<MasterSession>> session = master_->CreateSession({request.config(), request.target()}, request.graph_def(), cancellation.get());
  tensorflow::CreateSessionResponse response;
  if (session.ok()) response.set_session_handle((*session)->handle());
  ReplyOr(call, session.status(), response);
}

void MasterService::ExtendSession(IncomingCall* call) {
  auto extend = [&]() -> StatusOr<int64_t> {
    tensorflow::ExtendSessionRequest request;
    RETURN_IF_ERROR(ParseMessage(call->request(), &request));
    ASSIGN_OR_RETURN(std::shared_ptr<MasterSession> session, master_->FindSession(request.session_handle()));
    return session->Extend(request.graph_def(), request.current_graph_version());
  };
  StatusOr<int64_t> version = extend();
  tensorflow::ExtendSessionResponse response;
  if (version.ok()) response.set_new_graph_version(*version);
  ReplyOr(call, version.status(), response);
}

void MasterService::CloseSession(IncomingCall* call) {
  tensorflow::CloseSessionRequest request;
  Status status = ParseMessage(call->request(), &request);
  if (status.ok()) status = master_->CloseSession(request.session_handle());
  ReplyOr(call, status, tensorflow::CloseSessionResponse());
}

void MasterService::ListDevices(IncomingCall* call) {
  tensorflow::ListDevicesRequest request;
  tensorflow::ListDevicesResponse response;
  auto list = [&]() -> Status {
    RETURN_IF_ERROR(ParseMessage(call->request(), &request));
    std::vector<tensorflow::DeviceAttributes> own, others;
    if (request.session_handle().empty()) {
      RETURN_IF_ERROR(master_->ListDevices(&own, &others, CancelledWith(call).get()));
    } else {
      StatusOr<std::shared_ptr<MasterSession>> session = master_->FindSession(request.session_handle());
      if (!session.ok()) return InvalidArgument("Session ", request.session_handle(), " is not found. Possibly, this master has restarted.");
      own = (*session)->ListDevices();
    }
    for (auto& device : own) *response.add_local_device() = std::move(device);
    for (auto& device : others) *response.add_remote_device() = std::move(device);
    return OkStatus();
  };
  Status status = list();
  ReplyOr(call, status, response);
}

void MasterService::Reset(IncomingCall* call) {
  tensorflow::ResetRequest request;
  Status status = ParseMessage(call->request(), &request);
  if (status.ok()) {
    status = master_->Reset(std::vector<std::string>(request.container().begin(), request.container().end()),
                            std::vector<std::string>(request.device_filters().begin(), request.device_filters().end()));
  }
  ReplyOr(call, status, tensorflow::ResetResponse());
}

// ---- steps ----------------------------------------------------------------------------------------------------------------

void MasterService::RunStep(IncomingCall* call) {
  struct Pending {
    tensorflow::RunStepRequest request;
    std::vector<NamedTensor> feeds;
  };
  auto pending = std::make_shared<Pending>();
  const auto& request = pending->request;
  Status status = ParseWithNamedTensors(call->request(), kStepFeed, "feed value", &pending->request, &pending->feeds);
  auto fail = [call, pending](const Status& error) {
    if (!pending->request.store_errors_in_response_body()) return call->Fail(error);
    tensorflow::RunStepResponse response;
    response.set_status_code(static_cast<tensorflow::error::Code>(error.code()));
    response.set_status_error_message(std::string(error.message()));
    call->Reply(SerializeMessage(response));
  };
  if (!status.ok()) return fail(status);
  if (!request_ids_.IsNew(request.request_id())) {
    return fail(Aborted("The same RunStep (Master) request was received twice. ", request.ShortDebugString()));
  }
  StatusOr<std::shared_ptr<MasterSession>> session = master_->FindSession(request.session_handle());
  if (!session.ok()) return fail(session.status());
  if (!request.partial_run_handle().empty()) {
    std::vector<std::pair<std::string, Tensor>> feeds;
    for (NamedTensor& feed : pending->feeds) feeds.emplace_back(std::move(feed.name), std::move(feed.tensor));
    const std::vector<std::string> fetches(request.fetch().begin(), request.fetch().end());
    (*session)->RunPortion(request.partial_run_handle(), feeds, fetches, TicketOf(call),
                           [call, pending, fail](const Status& result, absl::Span<const Tensor> values, bool is_last) {
                             if (!result.ok()) return fail(result);
                             tensorflow::RunStepResponse response;
                             if (is_last) response.mutable_metadata();
                             call->Reply(SerializeFetches(pending->request, values, response));
                           });
    return;
  }
  StepNames names;
  std::vector<Tensor> values;
  for (NamedTensor& feed : pending->feeds) {
    names.feeds.push_back(feed.name);
    values.push_back(std::move(feed.tensor));
  }
  for (const std::string& fetch : request.fetch()) names.fetches.push_back(fetch);
  for (const std::string& target : request.target()) names.targets.push_back(target);
  (*session)->Run(names, std::move(values), &request.options(), TicketOf(call),
                  [call, pending, fail](const Status& result, absl::Span<const Tensor> fetches, tensorflow::RunMetadata* metadata) {
                    if (!result.ok()) return fail(result);
                    tensorflow::RunStepResponse response;
                    if (metadata != nullptr) {
                      response.mutable_metadata()->Swap(metadata);
                    } else {
                      response.mutable_metadata();
                    }
                    call->Reply(SerializeFetches(pending->request, fetches, response));
                  });
}

void MasterService::MakeCallable(IncomingCall* call) {
  auto make = [&]() -> StatusOr<int64_t> {
    tensorflow::MakeCallableRequest request;
    RETURN_IF_ERROR(ParseMessage(call->request(), &request));
    if (!request_ids_.IsNew(request.request_id())) {
      return Aborted("The same MakeCallable (Master) request was received twice. ", request.ShortDebugString());
    }
    ASSIGN_OR_RETURN(std::shared_ptr<MasterSession> session, master_->FindSession(request.session_handle()));
    return session->MakeCallable(request.options());
  };
  StatusOr<int64_t> handle = make();
  tensorflow::MakeCallableResponse response;
  if (handle.ok()) response.set_handle(*handle);
  ReplyOr(call, handle.status(), response);
}

void MasterService::PartialRunSetup(IncomingCall* call) {
  auto set_up = [&]() -> StatusOr<std::string> {
    tensorflow::PartialRunSetupRequest request;
    RETURN_IF_ERROR(ParseMessage(call->request(), &request));
    if (!request_ids_.IsNew(request.request_id())) {
      return Aborted("The same PartialRunSetup (Master) request was received twice. ", request.ShortDebugString());
    }
    ASSIGN_OR_RETURN(std::shared_ptr<MasterSession> session, master_->FindSession(request.session_handle()));
    auto strings = [](const auto& list) { return std::vector<std::string>(list.begin(), list.end()); };
    return session->SetUpPartialRun(strings(request.feed()), strings(request.fetch()), strings(request.target()));
  };
  StatusOr<std::string> handle = set_up();
  tensorflow::PartialRunSetupResponse response;
  if (handle.ok()) response.set_partial_run_handle(*handle);
  ReplyOr(call, handle.status(), response);
}

void MasterService::RunCallable(IncomingCall* call) {
  tensorflow::RunCallableRequest request;
  std::vector<Tensor> feeds;
  Status status = ParseWithTensors(call->request(), kCallableFeed, "feed value", &request, &feeds);
  if (!status.ok()) return call->Fail(status);
  if (!request_ids_.IsNew(request.request_id())) {
    return call->Fail(Aborted("The same RunCallable (Master) request was received twice. ", request.ShortDebugString()));
  }
  StatusOr<std::shared_ptr<MasterSession>> session = master_->FindSession(request.session_handle());
  if (!session.ok()) return call->Fail(session.status());
  (*session)->RunCallable(request.handle(), std::move(feeds), TicketOf(call),
                          [call](const Status& result, absl::Span<const Tensor> fetches, tensorflow::RunMetadata* metadata) {
                            if (!result.ok()) return call->Fail(result);
                            tensorflow::RunCallableResponse response;
                            if (metadata != nullptr) {
                              response.mutable_metadata()->Swap(metadata);
                            } else {
                              response.mutable_metadata();
                            }
                            call->Reply(SerializeWithTensors(response, kCallableFetch, fetches));
                          });
}

void MasterService::ReleaseCallable(IncomingCall* call) {
  tensorflow::ReleaseCallableRequest request;
  Status status = ParseMessage(call->request(), &request);
  if (status.ok()) {
    StatusOr<std::shared_ptr<MasterSession>> session = master_->FindSession(request.session_handle());
    status = session.status();
    if (session.ok()) (*session)->ReleaseCallable(request.handle());
  }
  ReplyOr(call, status, tensorflow::ReleaseCallableResponse());
}

}  // namespace tandem
