// The devices of this process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernel/device.h"

namespace tandem {

class DeviceSet {
 public:
  // Devices CPU:0 … CPU:n-1 under `task_prefix` ("/job:ps/replica:0/task:0"), each with a ResourceManager of its own whose default
  // container is `default_container`, and a random incarnation.
  static std::shared_ptr<DeviceSet> MakeCpus(const std::string& task_prefix, const std::string& default_container, int count);
  // Other names and private resources for the same devices (isolated sessions, ClusterSpec propagation).
  std::shared_ptr<DeviceSet> Isolated(const std::string& task_prefix, const std::string& default_container) const;

  const std::vector<std::unique_ptr<Device>>& devices() const { return devices_; }
  Device* first() const { return devices_.front().get(); }
  // By full name; null if it is not one of these.
  Device* Find(absl::string_view name) const;
  const std::string& task_prefix() const { return task_prefix_; }

 private:
  std::string task_prefix_;
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace tandem
