#include "kernel/resource_access.h"

#include <atomic>

#include "absl/hash/hash.h"
#include "absl/strings/ascii.h"

namespace tandem {

Status CheckResourceName(absl::string_view container, absl::string_view shared_name) {
  for (size_t i = 0; i < container.size(); ++i) {
    const char c = container[i];
    const bool is_fine = absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || (i > 0 && (c == '_' || c == '-' || c == '/'));
    if (!is_fine) return InvalidArgument("container contains invalid characters: ", container);
  }
  if (!shared_name.empty() && shared_name.front() == '_') return InvalidArgument("shared_name cannot start with '_':", shared_name);
  return OkStatus();
}

std::string PrivateResourceName(absl::string_view node_name) {
  static std::atomic<int64_t> next{0};
  return absl::StrCat("_", next.fetch_add(1, std::memory_order_relaxed), "_", node_name);
}

Tensor MakeHandle(const Device& device, absl::string_view container, std::string name, std::string type_name, std::shared_ptr<Resource> resource) {
  ResourceHandle handle;
  handle.device = device.name();
  handle.container = std::string(container.empty() ? absl::string_view(device.resources().default_container()) : container);
  handle.name = std::move(name);
  handle.hash_code = absl::HashOf(type_name);
  handle.type_name = std::move(type_name);
  handle.resource = std::move(resource);
  return Tensor::Scalar(std::move(handle));
}

RefHandle::RefHandle(std::string container, std::string name, std::shared_ptr<Resource> resource)
    : VariableStorage(name), resource_(std::move(resource)) {
  MutexLock lock(&mu);
  value = Tensor::Vector<std::string>(std::vector<std::string>{std::move(container), std::move(name)});
}

StatusOr<const ResourceHandle*> HandleInput(const KernelContext& ctx, int i) {
  const Tensor& input = ctx.input(i);
  if (input.dtype() != kResource || input.num_elements() < 1) {
    return InvalidArgument("input ", i, " must be a resource handle, got ", DataTypeName(input.dtype()), input.shape().ToString());
  }
  const ResourceHandle* handle = input.data<ResourceHandle>();
  if (handle->resource == nullptr && handle->device != ctx.device().name()) {
    return InvalidArgument("Trying to access resource ", handle->name, " located in device ", handle->device, " from device ", ctx.device().name());
  }
  return handle;
}

namespace internal {

Status WrongResource(const ResourceHandle& handle, const Resource& found, const char* wanted) {
  return InvalidArgument("Trying to access resource ", handle.container, "/", handle.name, " as ", wanted, ", but it is ", found.Describe());
}

}  // namespace internal
}  // namespace tandem
