// The servers of this process, by the target that sessions name.
#pragma once

#include <optional>
#include <string>

#include "cluster/cluster_spec.h"

namespace tandem {

class TaskServer;

struct LocalTask {
  TaskName task;
  TaskServer* server = nullptr;  // runs until it is unregistered
  double wait_s = 0;             // how long its sessions wait for other tasks; 0: for ever
};

void RegisterLocalTask(const std::string& target, const LocalTask& task);
void UnregisterLocalTask(const std::string& target);
std::optional<LocalTask> FindLocalTask(const std::string& target);

// Session options for training on `target`: unless filters are given, a worker of this process waits for the ps tasks only and
// does not notice when another worker goes. Nodes that `graph` puts on other workers are a reason to wait for all.
struct SessionOptions;
class Graph;
SessionOptions TrainingSessionOptions(const Graph& graph, const std::string& target, const SessionOptions& wanted);

}  // namespace tandem
