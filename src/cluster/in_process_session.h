// A client's session with the master of this process, without gRPC between them.
#pragma once

#include <memory>
#include <string>

#include "runtime/session_backend.h"

namespace tensorflow {
class ConfigProto;
}  // namespace tensorflow

namespace tandem {

class Master;

// `master` outlives it.
std::unique_ptr<SessionBackend> NewInProcessSession(Master* master, tensorflow::ConfigProto config, std::string target);

}  // namespace tandem
