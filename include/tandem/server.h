// This process's task of a cluster: it serves its devices to the others.
#pragma once

#include <memory>
#include <string>

#include "tandem/cluster_config.h"

namespace tandem {

class Server {
 public:
  // Starts to serve at once, on the address of the task's own entry; does nothing without a cluster. Throws tandem::Error:
  // InvalidArgument for a task that is not in the cluster, Unavailable naming the address if it is taken.
  explicit Server(const ClusterConfig& config);
  // Stops. Sessions of this process on its target must have ended.
  ~Server();
  Server(const Server&) = delete;

  // For Session: "grpc://host:port", or "" without a cluster.
  const std::string& target() const;

  // Serves until SIGTERM or SIGINT, then stops. Returns the exit code for main(): 0. A stop that takes longer than four seconds is
  // broken off, with exit code 143.
  int Join();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tandem
