#include "cluster/worker_service.h"

#include <utility>

#include "cluster/rpc_client.h"
#include "cluster/run_graph_call.h"
#include "cluster/tensor_codec.h"
#include "core/clock.h"
#include "core/random.h"
#include "proto/worker.pb.h"

namespace tandem {
namespace {

template <typename Response>
void ReplyOr(IncomingCall* call, const Status& status, const Response& response) {
  if (status.ok()) {
    call->Reply(SerializeMessage(response));
  } else {
    call->Fail(status);
  }
}

}  // namespace

void WorkerService::AddTo(RpcServer* server) {
  auto add = [this, server](RpcMethod method, void (WorkerService::*handler)(IncomingCall*)) {
    server->AddMethod(RpcMethodPath(method), [this, handler](IncomingCall* call) { (this->*handler)(call); });
  };
  add(RpcMethod::kGetStatus, &WorkerService::GetStatus);
  add(RpcMethod::kCreateWorkerSession, &WorkerService::CreateWorkerSession);
  add(RpcMethod::kDeleteWorkerSession, &WorkerService::DeleteWorkerSession);
  add(RpcMethod::kRegisterGraph, &WorkerService::RegisterGraph);
  add(RpcMethod::kDeregisterGraph, &WorkerService::DeregisterGraph);
  add(RpcMethod::kRunGraph, &WorkerService::RunGraph);
  add(RpcMethod::kCleanupGraph, &WorkerService::CleanupGraph);
  add(RpcMethod::kCleanupAll, &WorkerService::CleanupAll);
  add(RpcMethod::kRecvTensor, &WorkerService::RecvTensor);
  // Transfers are not recorded: an empty answer is legal for every form of the request.
  server->AddMethod(RpcMethodPath(RpcMethod::kLogging), [](IncomingCall* call) { call->Reply(SerializeMessage(tensorflow::LoggingResponse())); });
  server->AddMethod("/tensorflow.WorkerService/MarkRecvFinished",
                    [](IncomingCall* call) { call->Reply(SerializeMessage(tensorflow::MarkRecvFinishedResponse())); });
  server->AddMethod("/tensorflow.WorkerService/GetStepSequence", [this](IncomingCall* call) { GetStepSequence(call); });
  server->AddMethod("/tensorflow.WorkerService/Tracing", [](IncomingCall* call) { call->Fail(Unimplemented("Tracing")); });
  for (const char* name : {"RecvBuf", "CompleteGroup", "CompleteInstance"}) {
    server->AddMethod(absl::StrCat("/tensorflow.WorkerService/", name),
                      [name](IncomingCall* call) { call->Fail(Unimplemented(name, ": collective operations are not supported")); });
  }
  server->AddMethod(RpcMethodPath(RpcMethod::kHello), [](IncomingCall* call) {
    WireWriter reply;
    reply.VarintField(1, kPeerProtocol);
    call->Reply(reply.Finish());
  });
}

void WorkerService::GetStatus(IncomingCall* call) {
  tensorflow::GetStatusResponse response;
  worker_->GetStatus(&response);
  call->Reply(SerializeMessage(response));
}

void WorkerService::CreateWorkerSession(IncomingCall* call) {
  tensorflow::CreateWorkerSessionRequest request;
  Status status = ParseMessage(call->request(), &request);
  if (status.ok()) status = worker_->CreateSession(request);
  ReplyOr(call, status, tensorflow::CreateWorkerSessionResponse());
}

void WorkerService::DeleteWorkerSession(IncomingCall* call) {
  tensorflow::DeleteWorkerSessionRequest request;
  Status status = ParseMessage(call->request(), &request);
  if (status.ok()) worker_->DeleteSession(request.session_handle());
  ReplyOr(call, status, tensorflow::DeleteWorkerSessionResponse());
}

void WorkerService::RegisterGraph(IncomingCall* call) {
  auto run = [&]() -> StatusOr<std::string> {
    tensorflow::RegisterGraphRequest request;
    RETURN_IF_ERROR(ParseMessage(call->request(), &request));
    ASSIGN_OR_RETURN(std::shared_ptr<WorkerSession> session, worker_->FindSession(request.session_handle(), request.create_worker_session_called()));
    auto def = std::make_shared<tensorflow::GraphDef>();
    def->Swap(request.mutable_graph_def());
    return worker_->RegisterGraph(session.get(), std::move(def));
  };
  StatusOr<std::string> handle = run();
  tensorflow::RegisterGraphResponse response;
  if (handle.ok()) response.set_graph_handle(*handle);
  ReplyOr(call, handle.status(), response);
}

void WorkerService::DeregisterGraph(IncomingCall* call) {
  tensorflow::DeregisterGraphRequest request;
  Status status = ParseMessage(call->request(), &request);
  if (status.ok()) {
    StatusOr<std::shared_ptr<WorkerSession>> session = worker_->FindSession(request.session_handle(), request.create_worker_session_called());
    status = session.ok() ? worker_->DeregisterGraph(session->get(), request.graph_handle()) : session.status();
  }
  ReplyOr(call, status, tensorflow::DeregisterGraphResponse());
}

void WorkerService::RunGraph(IncomingCall* call) { RunGraphCall::Start(worker_, &run_ids_, call); }

void WorkerService::CleanupGraph(IncomingCall* call) {
  tensorflow::CleanupGraphRequest request;
  Status status = ParseMessage(call->request(), &request);
  if (status.ok()) worker_->steps().Cleanup(request.step_id());
  ReplyOr(call, status, tensorflow::CleanupGraphResponse());
}

void WorkerService::CleanupAll(IncomingCall* call) {
  tensorflow::CleanupAllRequest request;
  Status status = ParseMessage(call->request(), &request);
  if (status.ok()) worker_->CleanupContainers(std::vector<std::string>(request.container().begin(), request.container().end()));
  ReplyOr(call, status, tensorflow::CleanupAllResponse());
}

void WorkerService::RecvTensor(IncomingCall* call) {
  tensorflow::RecvTensorRequest request;
  Status status = ParseMessage(call->request(), &request);
  if (!status.ok()) return call->Fail(status);
  if (!recv_ids_.IsNew(request.request_id())) {
    return call->Fail(Aborted("The same RecvTensor (GrpcWorker) request was received twice. ", request.ShortDebugString()));
  }
  StatusOr<EdgeKey> key = EdgeKey::Parse(request.rendezvous_key());
  if (!key.ok()) return call->Fail(key.status());
  // A caller that has gone leaves its wish in the rendezvous: its master cleans the step up.
  worker_->RecvTensor(request.step_id(), *key, [call](const Status& received, const Tensor& value, bool is_dead) {
    if (!received.ok()) {
      if (IsDerived(received)) call->AddTrailer("tandem-derived", "1");
      return call->Fail(received);
    }
    call->Reply(EncodeRecvTensorResponse(value, is_dead, NowMicros()));
  });
}

void WorkerService::GetStepSequence(IncomingCall* call) {
  tensorflow::GetStepSequenceRequest request;
  Status status = ParseMessage(call->request(), &request);
  tensorflow::GetStepSequenceResponse response;
  for (int64_t key : request.graph_key()) {
    auto* sequence = response.add_step_sequence();
    sequence->set_graph_key(key);
    sequence->set_next_step_id(static_cast<int64_t>(RandomUint64() >> 7));
  }
  ReplyOr(call, status, response);
}

}  // namespace tandem
