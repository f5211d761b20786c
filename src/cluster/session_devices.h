// Which tasks take part in a session, and what devices they have.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "cluster/peers.h"
#include "core/cancellation.h"
#include "proto/device.pb.h"

namespace tandem {

struct SessionTask {
  std::string name;                                  // in the session
  bool is_master = false;
  RpcChannel* rpc = nullptr;                         // null for the master's own task
  DataChannel* channel = nullptr;                    // likewise
  bool needs_cleanup = true;                         // wants CleanupGraph after each step; false for peers of ours that run phases only
  std::vector<tensorflow::DeviceAttributes> devices;
};

// The tasks of the cluster that pass any of `filters` (all without filters), the master's own first, the others in order of name.
// InvalidArgument for a filter that is not a device name.
StatusOr<std::vector<SessionTask>> SelectTasks(Peers* peers, const std::string& master_task, absl::Span<const std::string> filters);

// Asks the tasks for their devices, and waits until all have answered, logging every 10 s who is missing. Ends early with the error of a task that
// answers with one, the reason of `cancellation`, or DeadlineExceeded naming who is missing after `timeout_ms` (0: no limit). Blocks. Devices are
// renamed if the session calls a task by another name.
Status DiscoverDevices(std::vector<SessionTask>* tasks, int64_t timeout_ms, Cancellation* cancellation);

}  // namespace tandem
