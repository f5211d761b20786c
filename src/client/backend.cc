#include "client/backend.h"

#include "absl/strings/match.h"
#include "runtime/local_session.h"

namespace tandem {

StatusOr<std::unique_ptr<SessionBackend>> MakeBackend(const std::string& target, const SessionOptions& options) {
  if (target.empty() || target == "local") return NewLocalSession();
  return InvalidArgument("'", target, "' is not a session target: use \"\" for this process or \"grpc://host:port\" for a cluster");
}

}  // namespace tandem
