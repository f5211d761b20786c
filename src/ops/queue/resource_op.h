// Ops that own a resource and hand out its name: queues, accumulators. Shared under a name, or private to the kernel.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "graph/op.h"
#include "kernel/resource_access.h"

namespace tandem {

// T has kTypeName and std::string name() const.
template <typename T>
class ResourceOwner {
 public:
  // Reads the attrs container and shared_name.
  ResourceOwner(const Attrs& attrs, std::string handle_type)
      : container_(attrs.GetString("container")), shared_name_(attrs.GetString("shared_name")), handle_type_(std::move(handle_type)) {
    if (Status status = CheckResourceName(container_, shared_name_); !status.ok()) attrs.Fail(status);
    name_ = shared_name_.empty() ? PrivateResourceName(attrs.node_name()) : shared_name_;
  }

  // Sets output 0, a handle or a reference as the op says. `make(name)` makes the resource: a shared_ptr<T>. `check(const T&)` looks
  // at one that exists already under the shared name.
  template <typename Make, typename Check>
  Status Output(KernelContext& ctx, Make make, Check check) {
    ASSIGN_OR_RETURN(Names names, cache_.Get(ctx.resources(), [&]() -> StatusOr<Names> {
      ASSIGN_OR_RETURN(std::shared_ptr<T> resource, Find(ctx.resources(), make, check));
      const std::string& container = container_.empty() ? ctx.resources().default_container() : container_;
      return Names{MakeHandle(ctx.device(), container, name_, handle_type_, resource), std::make_shared<RefHandle>(container, name_, resource)};
    }));
    if (ctx.output_type(0) == kResource) {
      ctx.set_output(0, std::move(names.handle));
    } else {
      ctx.set_ref_output(0, std::move(names.ref));
    }
    return OkStatus();
  }

 private:
  struct Names {
    Tensor handle;
    std::shared_ptr<VariableStorage> ref;
  };

  template <typename Make, typename Check>
  StatusOr<std::shared_ptr<T>> Find(ResourceManager& resources, Make make, Check check) {
    if (shared_name_.empty()) {
      MutexLock lock(&mu_);
      if (private_ == nullptr) private_ = make(name_);
      return private_;
    }
    ASSIGN_OR_RETURN(std::shared_ptr<T> found,
                     resources.LookupOrCreate<T>(container_, name_, [&]() -> StatusOr<std::shared_ptr<T>> { return make(name_); }));
    RETURN_IF_ERROR(check(*found));
    return found;
  }

  const std::string container_, shared_name_, handle_type_;
  std::string name_;
  ResourceCache<Names> cache_;
  Mutex mu_;
  std::shared_ptr<T> private_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tandem
