// A client's session with a master behind gRPC, as TensorFlow's own client has it.
#pragma once

#include <memory>
#include <string>

#include "core/status.h"
#include "runtime/session_backend.h"

namespace tensorflow {
class ConfigProto;
}  // namespace tensorflow

namespace tandem {

// `target` is "grpc://host:port"; InvalidArgument if it is not. Nothing is sent before the first call, which makes the session and waits for the
// master to be there. Calls that fail with Unavailable are tried up to 10 times more within about 50 ms; a master that had begun a step refuses to
// run it again (Aborted). config.operation_timeout_in_ms limits every call.
StatusOr<std::unique_ptr<SessionBackend>> NewGrpcSession(const std::string& target, const tensorflow::ConfigProto& config);

// Empties containers on all tasks of the master's cluster, and closes its sessions.
Status ResetMaster(const std::string& target, absl::Span<const std::string> containers);

}  // namespace tandem
