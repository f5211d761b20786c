#include "tandem/server.h"

#include "client/local_tasks.h"
#include "cluster/server.h"
#include "tandem/error.h"
#include "train/stop_signal.h"

namespace tandem {

struct Server::State {
  std::unique_ptr<TaskServer> server;  // null without a cluster
  std::string target;
};

Server::Server(const ClusterConfig& config) : state_(std::make_unique<State>()) {
  if (!config.has_cluster() || config.task().is_evaluator) return;
  state_->server = ValueOrThrow(TaskServer::Make({.cluster = config.task().cluster, .task = config.task().task}));
  ThrowIfError(state_->server->Start());
  state_->target = state_->server->target();
  RegisterLocalTask(state_->target, {.task = config.task().task, .server = state_->server.get(), .wait_s = config.wait_s()});
}

Server::~Server() {
  if (state_->server == nullptr) return;
  UnregisterLocalTask(state_->target);
  state_->server->Stop();
}

const std::string& Server::target() const { return state_->target; }

int Server::Join() {
  if (state_->server == nullptr) return 0;
  StopSignal::Get().Wait();
  EndAfterSignal();
  state_->server->Stop();
  return 0;
}

}  // namespace tandem
