#include "cluster/master.h"

#include <utility>

#include "absl/synchronization/blocking_counter.h"
#include "cluster/message_buffer.h"
#include "proto/worker.pb.h"

namespace tandem {
namespace {

// Ends `inner` too when `outer` is cancelled.
class Linked {
 public:
  Linked(Cancellation* outer, Cancellation* inner) : outer_(outer), token_(outer->Register([outer, inner] { inner->Cancel(outer->reason()); })) {
    if (token_ == Cancellation::kNoToken) inner->Cancel(outer->reason());
  }
  ~Linked() {
    if (token_ != Cancellation::kNoToken) outer_->DeregisterAndWait(token_);
  }

 private:
  Cancellation* const outer_;
  const Cancellation::Token token_;
};

}  // namespace

StatusOr<std::shared_ptr<MasterSession>> Master::CreateSession(const MasterSession::Request& request, const tensorflow::GraphDef& graph,
                                                               Cancellation* cancellation) {
  Linked linked(&stopping_, cancellation);
  ASSIGN_OR_RETURN(std::shared_ptr<MasterSession> session, MasterSession::Create(env_, request, graph, cancellation));
  MutexLock lock(&mu_);
  sessions_.emplace(session->handle(), session);
  return session;
}

StatusOr<std::shared_ptr<MasterSession>> Master::FindSession(absl::string_view handle) {
  absl::ReaderMutexLock lock(&mu_);
  auto found = sessions_.find(handle);
  if (found == sessions_.end()) return Aborted("Session ", handle, " is not found.");
  return found->second;
}

Status Master::CloseSession(absl::string_view handle) {
  std::shared_ptr<MasterSession> session;
  {
    MutexLock lock(&mu_);
    auto found = sessions_.find(handle);
    if (found == sessions_.end()) return Aborted("Session ", handle, " is not found. Possibly, this master has restarted.");
    session = std::move(found->second);
    sessions_.erase(found);
  }
  session->Close();
  return OkStatus();
}

std::vector<std::shared_ptr<MasterSession>> Master::TakeSessions() {
  std::vector<std::shared_ptr<MasterSession>> all;
  MutexLock lock(&mu_);
  for (auto& [handle, session] : sessions_) all.push_back(std::move(session));
  sessions_.clear();
  return all;
}

Status Master::Reset(absl::Span<const std::string> containers, absl::Span<const std::string> device_filters) {
  ASSIGN_OR_RETURN(std::vector<SessionTask> tasks, SelectTasks(env_.peers.get(), env_.task, device_filters));
  const std::vector<std::shared_ptr<MasterSession>> sessions = TakeSessions();
  tensorflow::CleanupAllRequest request;
  for (const std::string& container : containers) request.add_container(container);
  absl::BlockingCounter left(static_cast<int>(tasks.size()) - 1);
  std::vector<Status> answers(tasks.size());
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].is_master) {
      env_.worker->CleanupContainers(containers);
      continue;
    }
    tasks[i].rpc->Call(RpcMethod::kCleanupAll, SerializeMessage(request), {}, [&left, &answer = answers[i]](RpcReply reply) {
      answer = std::move(reply.status);
      left.DecrementCount();
    });
  }
  left.Wait();
  for (const auto& session : sessions) session->Close();
  Status status;
  for (const Status& answer : answers) KeepRootError(&status, answer);
  return status;
}

Status Master::ListDevices(std::vector<tensorflow::DeviceAttributes>* own, std::vector<tensorflow::DeviceAttributes>* others, Cancellation* cancellation) {
  Linked linked(&stopping_, cancellation);
  ASSIGN_OR_RETURN(std::vector<SessionTask> tasks, SelectTasks(env_.peers.get(), env_.task, {}));
  RETURN_IF_ERROR(DiscoverDevices(&tasks, /*timeout_ms=*/0, cancellation));
  tensorflow::GetStatusResponse status;
  env_.worker->GetStatus(&status);
  own->assign(status.device_attributes().begin(), status.device_attributes().end());
  for (const SessionTask& task : tasks) others->insert(others->end(), task.devices.begin(), task.devices.end());
  return OkStatus();
}

void Master::Stop() {
  const Status reason = Aborted(env_.task, " is stopping");
  stopping_.Cancel(reason);
  for (const auto& session : TakeSessions()) session->Close(/*patience_ms=*/500, reason);
}

}  // namespace tandem
