// The master of a task: the sessions of the clients that chose it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "cluster/master_session.h"

namespace tandem {

// Thread-safe.
class Master {
 public:
  explicit Master(MasterEnv env) : env_(std::move(env)) {}

  const MasterEnv& env() const { return env_; }

  // Blocks until all tasks of the session are there.
  StatusOr<std::shared_ptr<MasterSession>> CreateSession(const MasterSession::Request& request, const tensorflow::GraphDef& graph, Cancellation* cancellation);
  // Aborted "Session … is not found."
  StatusOr<std::shared_ptr<MasterSession>> FindSession(absl::string_view handle);
  // Blocks. Aborted for an unknown session.
  Status CloseSession(absl::string_view handle);
  // Closes all sessions and empties these containers (without names: the default ones) on all tasks that pass the filters. Blocks.
  Status Reset(absl::Span<const std::string> containers, absl::Span<const std::string> device_filters);
  // Of the own task, and of the others, which must be there: waits for them. Blocks.
  Status ListDevices(std::vector<tensorflow::DeviceAttributes>* own, std::vector<tensorflow::DeviceAttributes>* others, Cancellation* cancellation);
  // Ends everything, when the task stops. Blocks.
  void Stop();

 private:
  std::vector<std::shared_ptr<MasterSession>> TakeSessions();

  const MasterEnv env_;
  // Of CreateSession and its kin while they wait.
  Cancellation stopping_;
  Mutex mu_;
  absl::flat_hash_map<std::string, std::shared_ptr<MasterSession>> sessions_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tandem
