// Runs graphs in this process, on this process's devices, without a server.
#pragma once

#include <memory>

#include "runtime/device_set.h"
#include "runtime/session_backend.h"

namespace tandem {

// Sessions made with the same `devices` share variables. Null: devices of its own, /job:localhost/replica:0/task:0/device:CPU:0.
std::unique_ptr<SessionBackend> NewLocalSession(std::shared_ptr<DeviceSet> devices = nullptr);

}  // namespace tandem
