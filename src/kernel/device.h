// A device of this task: a name, an incarnation and the state that lives on it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "kernel/resource.h"

namespace tandem {

class Device {
 public:
  // `name` is a full name: /job:ps/replica:0/task:0/device:CPU:0. `incarnation` is a random number, not 0, new with every start.
  Device(std::string name, std::string type, uint64_t incarnation, std::shared_ptr<ResourceManager> resources)
      : name_(std::move(name)), type_(std::move(type)), incarnation_(incarnation), resources_(std::move(resources)) {}

  const std::string& name() const { return name_; }
  const std::string& type() const { return type_; }  // "CPU"
  uint64_t incarnation() const { return incarnation_; }
  ResourceManager& resources() const { return *resources_; }

 private:
  const std::string name_;
  const std::string type_;
  const uint64_t incarnation_;
  const std::shared_ptr<ResourceManager> resources_;
};

}  // namespace tandem
