#include "runtime/device_set.h"

#include "core/random.h"

namespace tandem {

std::shared_ptr<DeviceSet> DeviceSet::MakeCpus(const std::string& task_prefix, const std::string& default_container, int count) {
  auto set = std::make_shared<DeviceSet>();
  set->task_prefix_ = task_prefix;
  for (int i = 0; i < count; ++i) {
    set->devices_.push_back(std::make_unique<Device>(absl::StrCat(task_prefix, "/device:CPU:", i), "CPU", RandomUint64(), std::make_shared<ResourceManager>(default_container)));
  }
  return set;
}

std::shared_ptr<DeviceSet> DeviceSet::Isolated(const std::string& task_prefix, const std::string& default_container) const {
  auto set = std::make_shared<DeviceSet>();
  set->task_prefix_ = task_prefix;
  for (const auto& device : devices_) {
    const std::string suffix = device->name().substr(task_prefix_.size());
    set->devices_.push_back(
        std::make_unique<Device>(task_prefix + suffix, device->type(), device->incarnation(), std::make_shared<ResourceManager>(default_container)));
  }
  return set;
}

Device* DeviceSet::Find(absl::string_view name) const {
  for (const auto& device : devices_) {
    if (device->name() == name) return device.get();
  }
  return nullptr;
}

}  // namespace tandem
