// State that outlives a step: variables, queues, tables. Each device has one ResourceManager.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/mutex.h"
#include "core/status.h"

namespace tandem {

class Resource {
 public:
  virtual ~Resource() = default;
  // For messages and `tandem inspect`: "Var float[2,3]".
  virtual std::string Describe() const = 0;
};

// Resources by container, C++ type and name: two types may use the same name. Thread-safe.
class ResourceManager {
 public:
  // `default_container` stands for an empty container name: the job's name on a server, "localhost" in a local session.
  explicit ResourceManager(std::string default_container) : default_container_(std::move(default_container)) {}

  const std::string& default_container() const { return default_container_; }

  // NotFound naming container and name.
  template <typename T>
  StatusOr<std::shared_ptr<T>> Lookup(absl::string_view container, absl::string_view name) const {
    ASSIGN_OR_RETURN(std::shared_ptr<Resource> found, LookupAny(typeid(T), container, name));
    return std::static_pointer_cast<T>(std::move(found));
  }

  // `make` is called under the lock, only if there is no such resource: StatusOr<std::shared_ptr<T>>().
  template <typename T, typename Make>
  StatusOr<std::shared_ptr<T>> LookupOrCreate(absl::string_view container, absl::string_view name, Make make) {
    Key key{std::string(container.empty() ? absl::string_view(default_container_) : container), typeid(T), std::string(name)};
    MutexLock lock(&mu_);
    auto found = resources_.find(key);
    if (found != resources_.end()) return std::static_pointer_cast<T>(found->second);
    StatusOr<std::shared_ptr<T>> made = make();
    if (made.ok()) resources_.emplace(std::move(key), *made);
    return made;
  }

  // NotFound if it is not there.
  template <typename T>
  Status Delete(absl::string_view container, absl::string_view name) {
    return DeleteAny(typeid(T), container, name);
  }
  // Deletes that resource object, whatever its name; NotFound if it is not there.
  Status DeleteObject(const Resource* resource);
  // Removes all resources of a container. Whoever holds one may go on with it. OK if there is none.
  void ClearContainer(absl::string_view container);
  void Clear();

  // Rises whenever something was deleted: a kernel that keeps a looked-up resource looks it up again when this has changed.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  struct Entry {
    std::string container, name;
    std::shared_ptr<Resource> resource;
  };
  std::vector<Entry> List() const;

 private:
  struct Key {
    std::string container;
    std::type_index type;
    std::string name;
    bool operator==(const Key& other) const { return type == other.type && name == other.name && container == other.container; }
    template <typename H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.container, key.type.hash_code(), key.name);
    }
  };
  StatusOr<std::shared_ptr<Resource>> LookupAny(std::type_index type, absl::string_view container, absl::string_view name) const;
  Status DeleteAny(std::type_index type, absl::string_view container, absl::string_view name);

  const std::string default_container_;
  std::atomic<uint64_t> generation_{1};
  mutable Mutex mu_;
  absl::flat_hash_map<Key, std::shared_ptr<Resource>> resources_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tandem
