#include "client/backend.h"

#include "absl/strings/match.h"
#include "client/local_tasks.h"
#include "cluster/grpc_session.h"
#include "cluster/server.h"
#include "proto/config.pb.h"
#include "runtime/local_session.h"

namespace tandem {
namespace {

tensorflow::ConfigProto ConfigOf(const SessionOptions& options) {
  tensorflow::ConfigProto config;
  config.set_operation_timeout_in_ms(options.operation_timeout_ms);
  config.set_allow_soft_placement(options.allow_soft_placement);
  for (const std::string& filter : options.device_filters) config.add_device_filters(filter);
  return config;
}

}  // namespace

StatusOr<std::unique_ptr<SessionBackend>> MakeBackend(const std::string& target, const SessionOptions& options) {
  if (target.empty() || target == "local") return NewLocalSession();
  const std::optional<LocalTask> local = FindLocalTask(target);
  if (local.has_value()) return local->server->NewSession(ConfigOf(options).SerializeAsString());
  if (absl::StartsWith(target, "grpc://")) return NewGrpcSession(target, ConfigOf(options));
  return InvalidArgument("'", target, "' is not a session target: use \"\" for this process or \"grpc://host:port\" for a cluster");
}

}  // namespace tandem
