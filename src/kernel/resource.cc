#include "kernel/resource.h"

namespace tandem {

StatusOr<std::shared_ptr<Resource>> ResourceManager::LookupAny(std::type_index type, absl::string_view container, absl::string_view name) const {
  Key key{std::string(container.empty() ? absl::string_view(default_container_) : container), type, std::string(name)};
  MutexLock lock(&mu_);
  auto found = resources_.find(key);
  if (found == resources_.end()) return NotFound("Resource ", key.container, "/", key.name, " does not exist.");
  return found->second;
}

Status ResourceManager::DeleteAny(std::type_index type, absl::string_view container, absl::string_view name) {
  Key key{std::string(container.empty() ? absl::string_view(default_container_) : container), type, std::string(name)};
  std::shared_ptr<Resource> doomed;  // destroyed outside of the lock
  MutexLock lock(&mu_);
  auto found = resources_.find(key);
  if (found == resources_.end()) return NotFound("Resource ", key.container, "/", key.name, " does not exist.");
  doomed = std::move(found->second);
  resources_.erase(found);
  generation_.fetch_add(1, std::memory_order_acq_rel);
  return OkStatus();
}

Status ResourceManager::DeleteObject(const Resource* resource) {
  std::shared_ptr<Resource> doomed;
  MutexLock lock(&mu_);
  for (auto it = resources_.begin(); it != resources_.end(); ++it) {
    if (it->second.get() != resource) continue;
    doomed = std::move(it->second);
    resources_.erase(it);
    generation_.fetch_add(1, std::memory_order_acq_rel);
    return OkStatus();
  }
  return NotFound("the resource does not exist");
}

void ResourceManager::ClearContainer(absl::string_view container) {
  const std::string name(container.empty() ? absl::string_view(default_container_) : container);
  std::vector<std::shared_ptr<Resource>> doomed;
  MutexLock lock(&mu_);
  for (auto it = resources_.begin(); it != resources_.end();) {
    if (it->first.container == name) {
      doomed.push_back(std::move(it->second));
      resources_.erase(it++);
    } else {
      ++it;
    }
  }
  generation_.fetch_add(1, std::memory_order_acq_rel);
}

void ResourceManager::Clear() {
  absl::flat_hash_map<Key, std::shared_ptr<Resource>> doomed;
  MutexLock lock(&mu_);
  doomed.swap(resources_);
  generation_.fetch_add(1, std::memory_order_acq_rel);
}

std::vector<ResourceManager::Entry> ResourceManager::List() const {
  std::vector<Entry> entries;
  MutexLock lock(&mu_);
  for (const auto& [key, resource] : resources_) entries.push_back({key.container, key.name, resource});
  return entries;
}

}  // namespace tandem
