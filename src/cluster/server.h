// One task of a cluster: a worker, a master and the gRPC server through which others reach them.
#pragma once

#include <memory>
#include <string>

#include "cluster/cluster_spec.h"
#include "core/status.h"

namespace tandem {

class Master;
class SessionBackend;

struct ServerConfig {
  ClusterSpec cluster;
  TaskName task;
  int cpu_devices = 1;     // CPU:0 … of this task
  bool use_phases = true;  // cut other tasks' parts of a step into phases, so that a step takes few calls
};

class TaskServer {
 public:
  // Checks the configuration; nothing listens yet. InvalidArgument if the cluster has no such task.
  static StatusOr<std::unique_ptr<TaskServer>> Make(ServerConfig config);
  // Stops.
  ~TaskServer();

  // Listens on the host of the task's own entry in the cluster, nowhere else. Unavailable, naming the address, if the port is in use.
  Status Start();
  // "grpc://host:port", with the port that was chosen if the cluster said 0.
  std::string target() const;
  const TaskName& task() const;
  // Waits until Stop was called, by another thread.
  void Join();
  // Refuses new calls, ends running steps with Cancelled, closes the sessions of this master. May be called twice. Not from a polling thread.
  void Stop();

  // A session with the master of this task, without the way through gRPC. `config` is a serialised ConfigProto. The server outlives it.
  StatusOr<std::unique_ptr<SessionBackend>> NewSession(absl::string_view config = "");

 private:
  struct State;
  explicit TaskServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tandem
