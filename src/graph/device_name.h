// Names of devices: "/job:ps/replica:0/task:1/device:CPU:0" and every part of it that a node may ask for.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "core/status.h"

namespace tandem {

// The parts that a name gives. A part that is missing, or given as '*', is empty: any value will do.
struct DeviceName {
  std::optional<std::string> job;
  std::optional<int> replica, task;
  std::optional<std::string> type;  // upper case for CPU and GPU
  std::optional<int> id;

  // Parts in any order, "/cpu:0" and "/gpu:*" for /device:CPU:0 and /device:GPU:*; "" asks for nothing. InvalidArgument
  // "Malformed device specification '<text>'" for anything else.
  static StatusOr<DeviceName> Parse(absl::string_view text);

  bool is_full() const { return job && replica && task && type && id; }
  bool has_task() const { return job && replica && task; }
  // "/job:ps/replica:0/task:1/device:CPU:0"; missing parts are left out, "/device:CPU:*" for a type without an id.
  std::string ToString() const;
  // "/job:ps/replica:0/task:1", as far as the parts are there.
  std::string TaskString() const;
  // Whether every part that this name gives is the same in `other`: a request matches a device, a filter matches a task.
  bool Matches(const DeviceName& other) const;
  bool operator==(const DeviceName&) const = default;
};

// Adds the parts of `from` that `into` lacks. InvalidArgument "Cannot merge devices with incompatible jobs: '…' and '…'" if both give
// a part and they differ; `soft` drops a type or id that differs instead. `into` is unchanged on an error.
Status MergeDeviceNames(const DeviceName& from, bool soft, DeviceName* into);
// The parts of `over` win; those that it lacks come from `base`: nested device scopes.
DeviceName OverrideDeviceName(const DeviceName& base, const DeviceName& over);

// "/job:ps/replica:0/task:1" of a full device name; empty if it has no job, replica and task.
std::string TaskOf(absl::string_view device);

}  // namespace tandem
