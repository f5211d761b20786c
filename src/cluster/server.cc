#include "cluster/server.h"

#include <utility>

#include "cluster/in_process_session.h"
#include "cluster/master.h"
#include "cluster/master_service.h"
#include "cluster/rpc_client.h"
#include "cluster/rpc_server.h"
#include "cluster/worker.h"
#include "cluster/worker_service.h"
#include "core/log.h"
#include "core/net_address.h"
#include "proto/config.pb.h"

namespace tandem {

// In the order in which the parts need each other; destroyed from the end.
struct TaskServer::State {
  ServerConfig config;
  std::string address;              // "host:port"; the port is the real one once the server listens
  std::shared_ptr<DeviceSet> devices;
  RpcServer rpc;
  std::unique_ptr<RpcClient> client;
  std::shared_ptr<Peers> peers;
  std::unique_ptr<Worker> worker;
  std::unique_ptr<ThreadPool> blocking;
  std::unique_ptr<Master> master;
  std::unique_ptr<WorkerService> worker_service;
  std::unique_ptr<MasterService> master_service;

  Mutex mu;
  bool is_started ABSL_GUARDED_BY(mu) = false;
  bool is_stopping ABSL_GUARDED_BY(mu) = false;
  bool is_stopped ABSL_GUARDED_BY(mu) = false;
};

namespace {

// Threads that work at the same time: steps may compute long on the thread that received them.
constexpr int kMaxRpcThreads = 64;
constexpr int kMaxCpuDevices = 1024;
// Calls that wait for other tasks at the same time: CreateSession, CloseSession …
constexpr int kMaxBlockingThreads = 256;

}  // namespace

TaskServer::TaskServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

TaskServer::~TaskServer() { Stop(); }

StatusOr<std::unique_ptr<TaskServer>> TaskServer::Make(ServerConfig config) {
  auto state = std::make_unique<State>();
  ASSIGN_OR_RETURN(state->address, config.cluster.Address(config.task));
  if (config.cpu_devices < 1 || config.cpu_devices > kMaxCpuDevices) return InvalidArgument("a task has 1 to ", kMaxCpuDevices, " CPU devices, not ", config.cpu_devices);
  state->config = std::move(config);
  return std::unique_ptr<TaskServer>(new TaskServer(std::move(state)));
}

Status TaskServer::Start() {
  State& s = *state_;
  {
    MutexLock lock(&s.mu);
    if (s.is_started) return FailedPrecondition("the server was started before");
    s.is_started = true;
  }
  const std::string name = s.config.task.prefix();
  s.devices = DeviceSet::MakeCpus(name, s.config.task.job, s.config.cpu_devices);
  s.blocking = std::make_unique<ThreadPool>("tandem_master", kMaxBlockingThreads);
  grpc::CompletionQueue* queue = s.rpc.queue();
  s.client = std::make_unique<RpcClient>(queue);
  s.peers = std::make_shared<Peers>(s.config.cluster, s.client.get());
  s.worker = std::make_unique<Worker>(s.devices, s.peers, s.client.get());
  s.master = std::make_unique<Master>(MasterEnv{name, s.worker.get(), s.peers, s.client.get(), s.blocking.get(), queue, s.config.use_phases});
  s.worker_service = std::make_unique<WorkerService>(s.worker.get());
  s.master_service = std::make_unique<MasterService>(s.master.get());
  s.worker_service->AddTo(&s.rpc);
  s.master_service->AddTo(&s.rpc);
  ASSIGN_OR_RETURN(HostPort host_port, ParseHostPort(s.address));
  ASSIGN_OR_RETURN(host_port.port, s.rpc.Start(s.address, kMaxRpcThreads));
  s.address = host_port.ToString();
  LogInfo(name, " listens on ", s.address);
  return OkStatus();
}

std::string TaskServer::target() const { return "grpc://" + state_->address; }
const TaskName& TaskServer::task() const { return state_->config.task; }

void TaskServer::Join() {
  MutexLock lock(&state_->mu);
  state_->mu.Await(absl::Condition(&state_->is_stopped));
}

void TaskServer::Stop() {
  State& s = *state_;
  {
    MutexLock lock(&s.mu);
    if (s.is_stopping) {
      s.mu.Await(absl::Condition(&s.is_stopped));
      return;
    }
    s.is_stopping = true;
  }
  if (s.worker != nullptr) {
    // For its peers a lost task like any other: they wait for its return.
    s.worker->steps().AbortAll(Aborted(s.worker->task(), " is stopping"));
    s.master->Stop();
    s.rpc.Stop();
    s.client->Stop();
  }
  s.blocking.reset();
  s.rpc.StopThreads();
  MutexLock lock(&s.mu);
  s.is_stopped = true;
}

StatusOr<std::unique_ptr<SessionBackend>> TaskServer::NewSession(absl::string_view config) {
  if (state_->master == nullptr) return FailedPrecondition("the server was not started");
  tensorflow::ConfigProto parsed;
  if (!parsed.ParseFromArray(config.data(), static_cast<int>(config.size()))) return InvalidArgument("the session's config is not a ConfigProto");
  return NewInProcessSession(state_->master.get(), std::move(parsed), target());
}

}  // namespace tandem
