#include "cluster/in_process_session.h"

#include <utility>

#include "cluster/caller_queue.h"
#include "cluster/master.h"

namespace tandem {
namespace {

class InProcessSession : public SessionBackend {
 public:
  InProcessSession(Master* master, tensorflow::ConfigProto config, std::string target) : master_(master), request_{std::move(config), std::move(target)} {}
  ~InProcessSession() override { Close().IgnoreError(); }  // nothing is left to close then

  Status Extend(const tensorflow::GraphDef& graph) override {
    {
      absl::ReaderMutexLock lock(&mu_);
      if (is_closed_) return ClosedError();
      if (session_ != nullptr) return session_->Extend(graph, -1).status();
    }
    StatusOr<std::shared_ptr<MasterSession>> made = master_->CreateSession(request_, graph, &cancellation_);
    if (!made.ok()) return made.status();
    MutexLock lock(&mu_);
    session_ = *made;
    return OkStatus();
  }

  Status Run(const RunRequest& request, std::vector<Tensor>* outputs) override {
    ASSIGN_OR_RETURN(std::shared_ptr<MasterSession> session, Session());
    StepNames names;
    std::vector<Tensor> feeds;
    feeds.reserve(request.feeds.size());
    for (const auto& [name, value] : request.feeds) {
      names.feeds.push_back(name);
      feeds.push_back(value);
    }
    for (const std::string& fetch : request.fetches) names.fetches.push_back(fetch);
    for (const std::string& target : request.targets) names.targets.push_back(target);
    return Wait(outputs, request.metadata, [&](StepRun::Done done, grpc::CompletionQueue* queue) {
      session->Run(names, std::move(feeds), request.options, nullptr, std::move(done), queue);
    });
  }

  StatusOr<int64_t> MakeCallable(const tensorflow::CallableOptions& options) override {
    ASSIGN_OR_RETURN(std::shared_ptr<MasterSession> session, Session());
    return session->MakeCallable(options);
  }

  Status RunCallable(int64_t handle, absl::Span<const Tensor> feeds, std::vector<Tensor>* outputs, tensorflow::RunMetadata* metadata) override {
    ASSIGN_OR_RETURN(std::shared_ptr<MasterSession> session, Session());
    return Wait(outputs, metadata, [&](StepRun::Done done, grpc::CompletionQueue* queue) {
      session->RunCallable(handle, std::vector<Tensor>(feeds.begin(), feeds.end()), nullptr, std::move(done), queue);
    });
  }

  Status ReleaseCallable(int64_t handle) override {
    ASSIGN_OR_RETURN(std::shared_ptr<MasterSession> session, Session());
    session->ReleaseCallable(handle);
    return OkStatus();
  }

  Status ListDevices(std::vector<tensorflow::DeviceAttributes>* devices) override {
    ASSIGN_OR_RETURN(std::shared_ptr<MasterSession> session, Session());
    *devices = session->ListDevices();
    return OkStatus();
  }

  Status Close() override {
    std::shared_ptr<MasterSession> session;
    {
      MutexLock lock(&mu_);
      is_closed_ = true;
      session = std::exchange(session_, nullptr);
    }
    cancellation_.Cancel(ClosedError());
    return session == nullptr ? OkStatus() : master_->CloseSession(session->handle());
  }

 private:
  static Status ClosedError() { return FailedPrecondition("Session is closed."); }

  StatusOr<std::shared_ptr<MasterSession>> Session() {
    {
      absl::ReaderMutexLock lock(&mu_);
      if (is_closed_) return ClosedError();
      if (session_ != nullptr) return session_;
    }
    RETURN_IF_ERROR(Extend(tensorflow::GraphDef()));
    absl::ReaderMutexLock lock(&mu_);
    if (session_ == nullptr) return ClosedError();
    return session_;
  }

  // Runs a step to its end on this thread, which takes the replies of other tasks itself.
  template <typename Start>
  Status Wait(std::vector<Tensor>* outputs, tensorflow::RunMetadata* metadata, Start start) {
    std::unique_ptr<CallerQueue> queue = TakeQueue();
    Status result;
    queue->Begin();
    start(
        [&, waiting = queue.get()](const Status& status, absl::Span<const Tensor> fetches, tensorflow::RunMetadata* filled) {
          result = status;
          outputs->assign(fetches.begin(), fetches.end());
          if (metadata != nullptr && filled != nullptr) metadata->Swap(filled);
          waiting->End();
        },
        queue->queue());
    queue->WaitForEnd();
    MutexLock lock(&mu_);
    queues_.push_back(std::move(queue));
    return result;
  }

  std::unique_ptr<CallerQueue> TakeQueue() {
    MutexLock lock(&mu_);
    if (queues_.empty()) return std::make_unique<CallerQueue>();
    std::unique_ptr<CallerQueue> queue = std::move(queues_.back());
    queues_.pop_back();
    return queue;
  }

  Master* const master_;
  const MasterSession::Request request_;
  Cancellation cancellation_;  // of the making of the session

  Mutex mu_;
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
  std::shared_ptr<MasterSession> session_ ABSL_GUARDED_BY(mu_);
  std::vector<std::unique_ptr<CallerQueue>> queues_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

std::unique_ptr<SessionBackend> NewInProcessSession(Master* master, tensorflow::ConfigProto config, std::string target) {
  return std::make_unique<InProcessSession>(master, std::move(config), std::move(target));
}

}  // namespace tandem
