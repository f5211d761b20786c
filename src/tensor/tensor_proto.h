// Between Tensor and TensorProto. Rules: tensorflow-wire specification, section 3.8.
#pragma once

#include "core/status.h"
#include "tandem/tensor.h"

namespace tensorflow {
class ResourceHandleProto;
class TensorProto;
class TensorShapeProto;
}  // namespace tensorflow

namespace tandem {

// InvalidArgument for an unknown type, an unknown or impossible shape, content of the wrong length. The last value of a short
// *_val list repeats; surplus values are ignored. Unimplemented for variants.
StatusOr<Tensor> TensorFromProto(const tensorflow::TensorProto& proto);

// Plain types as tensor_content, strings as string_val, resources as resource_handle_val. tensor_shape is always set.
void TensorToProto(const Tensor& tensor, tensorflow::TensorProto* proto);

StatusOr<Shape> ShapeFromProto(const tensorflow::TensorShapeProto& proto);          // fully known
StatusOr<PartialShape> PartialShapeFromProto(const tensorflow::TensorShapeProto& proto);
void ShapeToProto(const PartialShape& shape, tensorflow::TensorShapeProto* proto);

void ResourceHandleToProto(const ResourceHandle& handle, tensorflow::ResourceHandleProto* proto);
StatusOr<ResourceHandle> ResourceHandleFromProto(const tensorflow::ResourceHandleProto& proto);

// The list layout of §3.8 for strings and resources inside tensor_content: lengths as varint32, then the bytes.
std::string EncodeStringList(absl::Span<const std::string> strings);
StatusOr<std::vector<std::string>> DecodeStringList(absl::string_view content, int64_t count);

}  // namespace tandem
