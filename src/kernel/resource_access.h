// How kernels name the state that they own and find the state that their inputs name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>

#include "absl/strings/string_view.h"
#include "core/mutex.h"
#include "core/status.h"
#include "kernel/kernel.h"
#include "kernel/resource.h"
#include "kernel/variable.h"
#include "tandem/tensor.h"

namespace tandem {

// What a kernel looked up, kept until something is deleted on the device: a warm step does no look-up by name. Thread-safe.
template <typename T>
class ResourceCache {
 public:
  // `find` returns StatusOr<T> and runs only if nothing is kept. T is cheap to copy: a shared_ptr, a Tensor.
  template <typename Find>
  StatusOr<T> Get(const ResourceManager& manager, Find find) {
    {
      absl::ReaderMutexLock lock(&mu_);
      if (manager_ == &manager && generation_ == manager.generation()) return kept_;
    }
    const uint64_t generation = manager.generation();  // before the look-up: a deletion in between is then noticed next time
    ASSIGN_OR_RETURN(T found, find());
    MutexLock lock(&mu_);
    kept_ = found;
    manager_ = &manager;
    generation_ = generation;
    return found;
  }

 private:
  Mutex mu_;
  T kept_ ABSL_GUARDED_BY(mu_);
  const ResourceManager* manager_ ABSL_GUARDED_BY(mu_) = nullptr;
  uint64_t generation_ ABSL_GUARDED_BY(mu_) = 0;
};

// InvalidArgument for a container with odd characters, or a shared name that starts with "_" as those of private resources do.
Status CheckResourceName(absl::string_view container, absl::string_view shared_name);

// "_<n>_<node>", another n each time: what messages call a resource that belongs to one kernel alone.
std::string PrivateResourceName(absl::string_view node_name);

// A scalar that names `resource` as living on `device`. An empty container stands for the device's default one.
Tensor MakeHandle(const Device& device, absl::string_view container, std::string name, std::string type_name, std::shared_ptr<Resource> resource);

// How ops from before handles name a resource: a reference to a string vector (container, name). It leads to the resource itself.
class RefHandle : public VariableStorage {
 public:
  RefHandle(std::string container, std::string name, std::shared_ptr<Resource> resource);

  const std::shared_ptr<Resource>& resource() const { return resource_; }

 private:
  const std::shared_ptr<Resource> resource_;
};

// The handle that input i holds. InvalidArgument if that is not one resource handle, or one of another device.
StatusOr<const ResourceHandle*> HandleInput(const KernelContext& ctx, int i);

namespace internal {
Status WrongResource(const ResourceHandle& handle, const Resource& found, const char* wanted);
}  // namespace internal

// The T that `handle`, which is of this device, names: what it carries, or, if it came from outside, by name. NotFound if it is gone.
template <typename T>
StatusOr<std::shared_ptr<T>> FindResource(const KernelContext& ctx, const ResourceHandle& handle) {
  if (handle.resource == nullptr) return ctx.resources().Lookup<T>(handle.container, handle.name);
  if (typeid(*handle.resource) == typeid(T)) return std::static_pointer_cast<T>(handle.resource);  // a tenth of the cast's time
  std::shared_ptr<T> cast = std::dynamic_pointer_cast<T>(handle.resource);
  if (cast == nullptr) return internal::WrongResource(handle, *handle.resource, T::kTypeName);
  return cast;
}

// The same for the handle in input i.
template <typename T>
StatusOr<std::shared_ptr<T>> ResourceInput(const KernelContext& ctx, int i) {
  ASSIGN_OR_RETURN(const ResourceHandle* handle, HandleInput(ctx, i));
  return FindResource<T>(ctx, *handle);
}

// The T that input i leads to, be it a handle or a reference of the old kind.
template <typename T>
StatusOr<std::shared_ptr<T>> ResourceOrRefInput(const KernelContext& ctx, int i) {
  if (!ctx.is_ref_input(i)) return ResourceInput<T>(ctx, i);
  const auto* handle = dynamic_cast<const RefHandle*>(ctx.ref_input(i).get());
  if (handle == nullptr) return InvalidArgument("input ", i, " is a reference to ", ctx.ref_input(i)->Describe(), ", not to ", T::kTypeName);
  std::shared_ptr<T> cast = std::dynamic_pointer_cast<T>(handle->resource());
  if (cast == nullptr) return InvalidArgument("input ", i, " leads to ", handle->resource()->Describe(), ", not to ", T::kTypeName);
  return cast;
}

}  // namespace tandem
