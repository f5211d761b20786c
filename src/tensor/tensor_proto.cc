#include "tensor/tensor_proto.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/string_view.h"
#include "proto/tensor.pb.h"

namespace tandem {
namespace {

// ---- lists of byte strings -----------------------------------------------------------------------------------------------

void AppendVarint32(uint32_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

bool ReadVarint32(absl::string_view* in, uint32_t* value) {
  uint64_t result = 0;
  for (int shift = 0; shift < 35 && !in->empty(); shift += 7) {
    uint8_t byte = static_cast<uint8_t>(in->front());
    in->remove_prefix(1);
    result |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = static_cast<uint32_t>(result);
      return result <= 0xffffffffu;
    }
  }
  return false;
}

// Calls take(i, bytes) for each of the `count` strings of a list.
template <typename Take>
Status ForEachInList(absl::string_view content, int64_t count, Take take) {
  if (count < 0 || static_cast<uint64_t>(count) > content.size()) {
    return InvalidArgument("a list of ", count, " strings cannot be in ", content.size(), " bytes");
  }
  std::vector<uint32_t> lengths(static_cast<size_t>(count));
  uint64_t total = 0;
  for (uint32_t& length : lengths) {
    if (!ReadVarint32(&content, &length)) return InvalidArgument("the lengths of a list of ", count, " strings are damaged");
    total += length;
  }
  if (total != content.size()) {
    return InvalidArgument("the strings of a list need ", total, " bytes, but ", content.size(), " follow their lengths");
  }
  for (size_t i = 0; i < lengths.size(); ++i) {
    RETURN_IF_ERROR(take(i, content.substr(0, lengths[i])));
    content.remove_prefix(lengths[i]);
  }
  return OkStatus();
}

// ---- values --------------------------------------------------------------------------------------------------------------

// The values of a *_val list, the last one repeated; zeros if there are none.
template <typename T, typename List, typename Convert>
void FillRepeating(const List& list, Tensor* tensor, Convert convert) {
  T* to = static_cast<T*>(tensor->mutable_raw_data());
  int64_t count = tensor->num_elements();
  int64_t given = std::min<int64_t>(count, list.size());
  for (int64_t i = 0; i < given; ++i) to[i] = convert(list[static_cast<int>(i)]);
  T last = given > 0 ? to[given - 1] : T();
  std::fill(to + given, to + count, last);
}

template <typename T, typename List>
void FillNumbers(const List& list, Tensor* tensor) {
  FillRepeating<T>(list, tensor, [](auto value) { return static_cast<T>(value); });
}

template <typename T, typename List>
void FillComplex(const List& list, Tensor* tensor) {
  auto* to = tensor->mutable_data<std::complex<T>>();
  int64_t count = tensor->num_elements();
  int64_t given = std::min<int64_t>(count, list.size() / 2);
  for (int64_t i = 0; i < given; ++i) to[i] = {list[static_cast<int>(2 * i)], list[static_cast<int>(2 * i + 1)]};
  std::complex<T> last = given > 0 ? to[given - 1] : std::complex<T>();
  std::fill(to + given, to + count, last);
}

Status FillResources(const tensorflow::TensorProto& proto, Tensor* tensor) {
  auto* to = tensor->mutable_data<ResourceHandle>();
  int64_t given = std::min<int64_t>(tensor->num_elements(), proto.resource_handle_val_size());
  for (int64_t i = 0; i < given; ++i) {
    ASSIGN_OR_RETURN(to[i], ResourceHandleFromProto(proto.resource_handle_val(static_cast<int>(i))));
  }
  return OkStatus();
}

Status FillFromLists(const tensorflow::TensorProto& proto, Tensor* tensor) {
  switch (tensor->dtype()) {
    case kFloat:
      FillNumbers<float>(proto.float_val(), tensor);
      return OkStatus();
    case kDouble:
      FillNumbers<double>(proto.double_val(), tensor);
      return OkStatus();
    case kInt32:
    case kQint32:
      FillNumbers<int32_t>(proto.int_val(), tensor);
      return OkStatus();
    case kInt16:
    case kQint16:
      FillNumbers<int16_t>(proto.int_val(), tensor);
      return OkStatus();
    case kUint16:
    case kQuint16:
      FillNumbers<uint16_t>(proto.int_val(), tensor);
      return OkStatus();
    case kInt8:
    case kQint8:
      FillNumbers<int8_t>(proto.int_val(), tensor);
      return OkStatus();
    case kUint8:
    case kQuint8:
      FillNumbers<uint8_t>(proto.int_val(), tensor);
      return OkStatus();
    case kInt64:
      FillNumbers<int64_t>(proto.int64_val(), tensor);
      return OkStatus();
    case kUint32:
      FillNumbers<uint32_t>(proto.uint32_val(), tensor);
      return OkStatus();
    case kUint64:
      FillNumbers<uint64_t>(proto.uint64_val(), tensor);
      return OkStatus();
    case kBool:
      FillNumbers<bool>(proto.bool_val(), tensor);
      return OkStatus();
    case kHalf:
    case kBfloat16:  // bit patterns, in the low half of an int32
      FillNumbers<uint16_t>(proto.half_val(), tensor);
      return OkStatus();
    case kComplex64:
      FillComplex<float>(proto.scomplex_val(), tensor);
      return OkStatus();
    case kComplex128:
      FillComplex<double>(proto.dcomplex_val(), tensor);
      return OkStatus();
    case kString:
      FillRepeating<std::string>(proto.string_val(), tensor, [](const std::string& value) { return value; });
      return OkStatus();
    case kResource:
      return FillResources(proto, tensor);
    default:
      return InvalidArgument("a tensor cannot have the type ", DataTypeName(tensor->dtype()));
  }
}

Status FillFromContent(const std::string& content, Tensor* tensor) {
  if (IsPlainData(tensor->dtype())) {
    if (content.size() != tensor->byte_size()) {
      return InvalidArgument("tensor_content has ", content.size(), " bytes, but ", DataTypeName(tensor->dtype()), tensor->shape().ToString(), " needs ",
                             tensor->byte_size());
    }
    std::memcpy(tensor->mutable_raw_data(), content.data(), content.size());
    if (tensor->dtype() == kBool) {
      // Any other byte than 0 and 1 in a bool is undefined behaviour for whoever reads it.
      uint8_t* bytes = static_cast<uint8_t*>(tensor->mutable_raw_data());
      for (size_t i = 0; i < content.size(); ++i) bytes[i] = bytes[i] != 0;
    }
    return OkStatus();
  }
  if (tensor->dtype() == kString) {
    auto* to = tensor->mutable_data<std::string>();
    return ForEachInList(content, tensor->num_elements(), [&](size_t i, absl::string_view bytes) {
      to[i].assign(bytes.data(), bytes.size());
      return OkStatus();
    });
  }
  auto* to = tensor->mutable_data<ResourceHandle>();
  return ForEachInList(content, tensor->num_elements(), [&](size_t i, absl::string_view bytes) -> Status {
    tensorflow::ResourceHandleProto handle;
    if (!handle.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return InvalidArgument("element ", i, " is not a resource handle");
    ASSIGN_OR_RETURN(to[i], ResourceHandleFromProto(handle));
    return OkStatus();
  });
}

Status CheckShapeProto(const tensorflow::TensorShapeProto& proto, int64_t smallest) {
  if (proto.dim_size() > kMaxRank) return InvalidArgument("a shape has ", proto.dim_size(), " dimensions, more than the ", kMaxRank, " that are possible");
  for (const auto& dim : proto.dim()) {
    if (dim.size() < smallest) return InvalidArgument("a shape has a dimension of size ", dim.size());
  }
  return OkStatus();
}

}  // namespace

StatusOr<Tensor> TensorFromProto(const tensorflow::TensorProto& proto) {
  DataType dtype = static_cast<DataType>(proto.dtype());
  if (dtype == kVariant) return Unimplemented("tensors of type variant are not supported");
  if (DataTypeSize(dtype) == 0) return InvalidArgument("a tensor cannot have the type ", DataTypeName(dtype));
  ASSIGN_OR_RETURN(Shape shape, ShapeFromProto(proto.tensor_shape()));
  // Before the memory is asked for: a short message must not make a large tensor that is then refused.
  if (!proto.tensor_content().empty()) {
    uint64_t least = static_cast<uint64_t>(shape.num_elements());
    if (least > proto.tensor_content().size()) {
      return InvalidArgument("tensor_content has ", proto.tensor_content().size(), " bytes, too few for ", DataTypeName(dtype), shape.ToString());
    }
  }
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, shape));
  if (proto.tensor_content().empty()) {
    RETURN_IF_ERROR(FillFromLists(proto, &tensor));
  } else {
    RETURN_IF_ERROR(FillFromContent(proto.tensor_content(), &tensor));
  }
  return tensor;
}

void TensorToProto(const Tensor& tensor, tensorflow::TensorProto* proto) {
  proto->Clear();
  proto->set_dtype(static_cast<tensorflow::DataType>(tensor.dtype()));
  ShapeToProto(tensor.shape(), proto->mutable_tensor_shape());
  if (tensor.dtype() == kString) {
    proto->mutable_string_val()->Reserve(static_cast<int>(tensor.num_elements()));
    for (const std::string& value : tensor.values<std::string>()) proto->add_string_val(value);
  } else if (tensor.dtype() == kResource) {
    for (const ResourceHandle& handle : tensor.values<ResourceHandle>()) ResourceHandleToProto(handle, proto->add_resource_handle_val());
  } else if (tensor.has_value()) {
    proto->set_tensor_content(tensor.raw_data(), tensor.byte_size());
  }
}

StatusOr<Shape> ShapeFromProto(const tensorflow::TensorShapeProto& proto) {
  if (proto.unknown_rank()) return InvalidArgument("the shape of a tensor must be known, but its rank is not");
  absl::InlinedVector<int64_t, 8> sizes;
  for (const auto& dim : proto.dim()) sizes.push_back(dim.size());
  return Shape::Checked(sizes);
}

StatusOr<PartialShape> PartialShapeFromProto(const tensorflow::TensorShapeProto& proto) {
  if (proto.unknown_rank()) {
    if (proto.dim_size() > 0) return InvalidArgument("a shape of unknown rank has ", proto.dim_size(), " dimensions");
    return PartialShape();
  }
  RETURN_IF_ERROR(CheckShapeProto(proto, kUnknownSize));
  PartialShape shape = PartialShape::Scalar();
  for (const auto& dim : proto.dim()) shape.AddDim(dim.size());
  return shape;
}

void ShapeToProto(const PartialShape& shape, tensorflow::TensorShapeProto* proto) {
  proto->Clear();
  proto->set_unknown_rank(!shape.has_rank());
  for (int64_t size : shape.dims()) proto->add_dim()->set_size(size);
}

void ResourceHandleToProto(const ResourceHandle& handle, tensorflow::ResourceHandleProto* proto) {
  proto->Clear();
  proto->set_device(handle.device);
  proto->set_container(handle.container);
  proto->set_name(handle.name);
  proto->set_hash_code(handle.hash_code);
  proto->set_maybe_type_name(handle.type_name);
  for (const auto& [dtype, shape] : handle.dtypes_and_shapes) {
    auto* pair = proto->add_dtypes_and_shapes();
    pair->set_dtype(static_cast<tensorflow::DataType>(dtype));
    ShapeToProto(shape, pair->mutable_shape());
  }
}

StatusOr<ResourceHandle> ResourceHandleFromProto(const tensorflow::ResourceHandleProto& proto) {
  ResourceHandle handle;
  handle.device = proto.device();
  handle.container = proto.container();
  handle.name = proto.name();
  handle.hash_code = proto.hash_code();
  handle.type_name = proto.maybe_type_name();
  for (const auto& pair : proto.dtypes_and_shapes()) {
    ASSIGN_OR_RETURN(PartialShape shape, PartialShapeFromProto(pair.shape()));
    handle.dtypes_and_shapes.emplace_back(static_cast<DataType>(pair.dtype()), std::move(shape));
  }
  return handle;
}

std::string EncodeStringList(absl::Span<const std::string> strings) {
  size_t bytes = 5 * strings.size();
  for (const std::string& value : strings) bytes += value.size();
  std::string out;
  out.reserve(bytes);
  for (const std::string& value : strings) AppendVarint32(static_cast<uint32_t>(value.size()), &out);
  for (const std::string& value : strings) out += value;
  return out;
}

StatusOr<std::vector<std::string>> DecodeStringList(absl::string_view content, int64_t count) {
  std::vector<std::string> strings;
  RETURN_IF_ERROR(ForEachInList(content, count, [&](size_t, absl::string_view bytes) {
    strings.emplace_back(bytes);
    return OkStatus();
  }));
  return strings;
}

}  // namespace tandem
