#include "client/local_tasks.h"

#include <map>

#include "core/mutex.h"
#include "graph/node.h"
#include "tandem/session.h"

namespace tandem {
namespace {

struct Registry {
  Mutex mu;
  std::map<std::string, LocalTask> tasks ABSL_GUARDED_BY(mu);
};

Registry& GetRegistry() {
  static Registry* const registry = new Registry();
  return *registry;
}

}  // namespace

void RegisterLocalTask(const std::string& target, const LocalTask& task) {
  MutexLock lock(&GetRegistry().mu);
  GetRegistry().tasks[target] = task;
}

void UnregisterLocalTask(const std::string& target) {
  MutexLock lock(&GetRegistry().mu);
  GetRegistry().tasks.erase(target);
}

std::optional<LocalTask> FindLocalTask(const std::string& target) {
  MutexLock lock(&GetRegistry().mu);
  auto found = GetRegistry().tasks.find(target);
  if (found == GetRegistry().tasks.end()) return std::nullopt;
  return found->second;
}

SessionOptions TrainingSessionOptions(const Graph& graph, const std::string& target, const SessionOptions& wanted) {
  SessionOptions options = wanted;
  const std::optional<LocalTask> local = FindLocalTask(target);
  if (!local.has_value() || !options.device_filters.empty()) return options;
  for (const auto& node : graph.nodes()) {
    TaskName task;
    if (ParseTaskName(node->device, &task) && task.job != "ps" && !(task == local->task)) return options;
  }
  options.device_filters = {"/job:ps", absl::StrCat("/job:", local->task.job, "/task:", local->task.index)};
  return options;
}

}  // namespace tandem
