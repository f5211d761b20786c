// Chooses what runs a session.
#pragma once

#include <memory>
#include <string>

#include "core/status.h"
#include "runtime/session_backend.h"
#include "tandem/session.h"

namespace tandem {

// "" or "local": this process. "grpc://host:port": the master there, without RPC if that server is in this process.
// InvalidArgument for any other target.
StatusOr<std::unique_ptr<SessionBackend>> MakeBackend(const std::string& target, const SessionOptions& options);

}  // namespace tandem
