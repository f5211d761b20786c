// What runs a client's graph: this process (LocalSession), a master in this process, or a master behind gRPC.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "core/status.h"
#include "tandem/tensor.h"

namespace tensorflow {
class CallableOptions;
class DeviceAttributes;
class GraphDef;
class RunMetadata;
class RunOptions;
}  // namespace tensorflow

namespace tandem {

struct RunRequest {
  std::vector<std::pair<std::string, Tensor>> feeds;  // "x:0" -> value
  std::vector<std::string> fetches;                   // "y:0"
  std::vector<std::string> targets;                   // node names
  const tensorflow::RunOptions* options = nullptr;    // may be null
  tensorflow::RunMetadata* metadata = nullptr;        // filled if not null
};

// All methods block; any thread, many at a time, but for Extend, which one thread calls at a time.
class SessionBackend {
 public:
  virtual ~SessionBackend() = default;

  // Adds nodes (all of `graph` are new). The first call creates the session. A failed call changes nothing.
  virtual Status Extend(const tensorflow::GraphDef& graph) = 0;
  // `outputs` in the order of request.fetches.
  virtual Status Run(const RunRequest& request, std::vector<Tensor>* outputs) = 0;

  // A run prepared once: feeds, fetches and targets by name, then values by position.
  virtual StatusOr<int64_t> MakeCallable(const tensorflow::CallableOptions& options) = 0;
  virtual Status RunCallable(int64_t handle, absl::Span<const Tensor> feeds, std::vector<Tensor>* outputs, tensorflow::RunMetadata* metadata) = 0;
  virtual Status ReleaseCallable(int64_t handle) = 0;

  virtual Status ListDevices(std::vector<tensorflow::DeviceAttributes>* devices) = 0;
  // Cancels what runs and waits for it. Later calls give FailedPrecondition "Session is closed."
  virtual Status Close() = 0;
};

}  // namespace tandem
