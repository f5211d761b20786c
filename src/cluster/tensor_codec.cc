#include "cluster/tensor_codec.h"

#include <climits>

#include "proto/tensor.pb.h"
#include "tensor/tensor_proto.h"

namespace tandem {
namespace {

// A shape of kMaxRank sizes takes less than this; dimension names are never sent by TensorFlow.
constexpr size_t kMaxShapeBytes = 1 << 16;

// TensorProto's numbers.
constexpr uint32_t kDtype = 1, kTensorShape = 2, kVersion = 3, kTensorContent = 4;

Status DecodeThroughProto(WireReader reader, size_t length, Tensor* tensor) {
  std::string bytes;
  tensorflow::TensorProto proto;
  if (length > INT_MAX || !reader.ReadString(length, &bytes) || !proto.ParseFromString(bytes)) return InvalidArgument("not a TensorProto");
  ASSIGN_OR_RETURN(*tensor, TensorFromProto(proto));
  return OkStatus();
}

Status DecodeShape(WireReader* reader, size_t length, Shape* shape) {
  std::string bytes;
  tensorflow::TensorShapeProto proto;
  if (length > kMaxShapeBytes || !reader->ReadString(length, &bytes) || !proto.ParseFromString(bytes)) return InvalidArgument("not a TensorShapeProto");
  ASSIGN_OR_RETURN(*shape, ShapeFromProto(proto));
  return OkStatus();
}

// Sizes of a plain tensor's TensorProto; the content is always there, also when it is empty, as TensorFlow writes it.
struct Sizes {
  explicit Sizes(const Tensor& tensor) {
    for (int64_t size : tensor.shape().dims()) {
      size_t dim = 1 + WireWriter::VarintSize(static_cast<uint64_t>(size));
      dims += 1 + WireWriter::VarintSize(dim) + dim;
    }
    body = tensor.byte_size();
    total = 1 + WireWriter::VarintSize(static_cast<uint64_t>(tensor.dtype())) + 1 + WireWriter::VarintSize(dims) + dims + 1 + WireWriter::VarintSize(body) + body;
  }
  size_t dims = 0, body = 0, total = 0;
};

void WritePlainTensor(const Tensor& tensor, const Sizes& sizes, WireWriter* writer) {
  writer->VarintField(kDtype, static_cast<uint64_t>(tensor.dtype()));
  writer->Tag(kTensorShape, 2);
  writer->Varint(sizes.dims);
  for (int64_t size : tensor.shape().dims()) {
    writer->Tag(2, 2);
    writer->Varint(1 + WireWriter::VarintSize(static_cast<uint64_t>(size)));
    writer->VarintField(1, static_cast<uint64_t>(size));
  }
  writer->Tag(kTensorContent, 2);
  writer->Varint(sizes.body);
  writer->TensorBody(tensor);
}

// Calls `take(reader, length)` for each field `field`, and parses the other fields into `rest`.
template <typename Take>
Status Split(const grpc::ByteBuffer& buffer, uint32_t field, google::protobuf::MessageLite* rest, Take take) {
  WireReader reader(buffer);
  std::string others;
  uint32_t number, wire_type;
  auto malformed = [rest] { return InvalidArgument("the bytes are not a ", rest->GetTypeName()); };
  while (reader.left() > 0) {
    if (!reader.ReadTag(&number, &wire_type)) return malformed();
    if (number == field && wire_type == 2) {
      size_t length;
      if (!reader.ReadLength(&length)) return malformed();
      size_t after = reader.left() - length;
      RETURN_IF_ERROR(take(&reader, length));
      if (!reader.Skip(reader.left() - after)) return malformed();
    } else if (!reader.SkipValue(number, wire_type, &others)) {
      return malformed();
    }
  }
  return rest->ParseFromString(others) ? OkStatus() : malformed();
}

Status DecodeNamedTensor(WireReader* reader, size_t length, NamedTensor* named) {
  size_t end = reader->left() - length;
  uint32_t number, wire_type;
  bool has_tensor = false;
  while (reader->left() > end) {
    size_t size;
    if (!reader->ReadTag(&number, &wire_type)) return InvalidArgument("not a NamedTensorProto");
    if ((number == 1 || number == 2) && wire_type == 2) {
      if (!reader->ReadLength(&size) || reader->left() - size < end) return InvalidArgument("not a NamedTensorProto");
      if (number == 1) {
        reader->ReadString(size, &named->name);
      } else {
        size_t after = reader->left() - size;
        RETURN_IF_ERROR(DecodeTensor(reader, size, &named->tensor));
        reader->Skip(reader->left() - after);
        has_tensor = true;
      }
    } else if (!reader->SkipValue(number, wire_type, nullptr)) {
      return InvalidArgument("not a NamedTensorProto");
    }
  }
  if (reader->left() != end) return InvalidArgument("not a NamedTensorProto");
  return has_tensor ? OkStatus() : InvalidArgument("the tensor is missing");
}

}  // namespace

Status DecodeTensor(WireReader* reader, size_t length, Tensor* tensor) {
  const WireReader start = *reader;
  if (length > reader->left()) return InvalidArgument("not a TensorProto");
  const size_t end = reader->left() - length;
  uint64_t dtype = 0;
  Shape shape;
  bool is_done = false;
  while (reader->left() > end) {
    uint32_t number, wire_type;
    size_t size;
    if (!reader->ReadTag(&number, &wire_type)) return InvalidArgument("not a TensorProto");
    if (number == kDtype && wire_type == 0 && !is_done) {
      if (!reader->ReadVarint(&dtype)) return InvalidArgument("not a TensorProto");
    } else if (number == kVersion && wire_type == 0) {
      if (!reader->SkipValue(number, wire_type, nullptr)) return InvalidArgument("not a TensorProto");
    } else if (number == kTensorShape && wire_type == 2 && !is_done) {
      if (!reader->ReadLength(&size) || reader->left() - size < end) return InvalidArgument("not a TensorProto");
      RETURN_IF_ERROR(DecodeShape(reader, size, &shape));
    } else if (number == kTensorContent && wire_type == 2 && !is_done && dtype < kRefOffset && IsPlainData(static_cast<DataType>(dtype))) {
      if (!reader->ReadLength(&size) || reader->left() - size < end) return InvalidArgument("not a TensorProto");
      size_t element = DataTypeSize(static_cast<DataType>(dtype));
      uint64_t count = static_cast<uint64_t>(shape.num_elements());
      // An empty content with elements means default values: the general way.
      if (element == 0 || (size == 0 && count > 0)) return DecodeThroughProto(start, length, tensor);
      if (size % element != 0 || size / element != count) {
        return InvalidArgument("the content has ", size, " bytes, ", DataTypeName(static_cast<DataType>(dtype)), shape.ToString(), " needs ", count, " elements of ", element);
      }
      ASSIGN_OR_RETURN(*tensor, Tensor::Allocate(static_cast<DataType>(dtype), shape));
      reader->ReadRaw(tensor->mutable_raw_data(), size);
      is_done = true;
    } else {
      return DecodeThroughProto(start, length, tensor);
    }
  }
  if (reader->left() != end) return InvalidArgument("not a TensorProto");
  return is_done ? OkStatus() : DecodeThroughProto(start, length, tensor);
}

void EncodeTensorField(uint32_t field, const Tensor& tensor, WireWriter* writer) {
  writer->Tag(field, 2);
  if (tensor.has_value() && IsPlainData(tensor.dtype())) {
    Sizes sizes(tensor);
    writer->Varint(sizes.total);
    WritePlainTensor(tensor, sizes, writer);
    return;
  }
  tensorflow::TensorProto proto;
  if (tensor.has_value()) TensorToProto(tensor, &proto);
  writer->Varint(proto.ByteSizeLong());
  writer->Message(proto);
}

void EncodeNamedTensorField(uint32_t field, const NamedTensorView& named, WireWriter* writer) {
  size_t name_size = named.name.empty() ? 0 : 1 + WireWriter::VarintSize(named.name.size()) + named.name.size();
  const Tensor& tensor = *named.tensor;
  writer->Tag(field, 2);
  if (tensor.has_value() && IsPlainData(tensor.dtype())) {
    Sizes sizes(tensor);
    writer->Varint(name_size + 1 + WireWriter::VarintSize(sizes.total) + sizes.total);
    if (name_size > 0) writer->BytesField(1, named.name);
    writer->Tag(2, 2);
    writer->Varint(sizes.total);
    WritePlainTensor(tensor, sizes, writer);
    return;
  }
  tensorflow::TensorProto proto;
  if (tensor.has_value()) TensorToProto(tensor, &proto);
  size_t size = proto.ByteSizeLong();
  writer->Varint(name_size + 1 + WireWriter::VarintSize(size) + size);
  if (name_size > 0) writer->BytesField(1, named.name);
  writer->Tag(2, 2);
  writer->Varint(size);
  writer->Message(proto);
}

Status ParseWithNamedTensors(const grpc::ByteBuffer& buffer, uint32_t field, absl::string_view what, google::protobuf::MessageLite* rest,
                             std::vector<NamedTensor>* tensors) {
  return Split(buffer, field, rest, [&](WireReader* reader, size_t length) {
    NamedTensor& named = tensors->emplace_back();
    Status status = DecodeNamedTensor(reader, length, &named);
    if (status.ok()) return status;
    return Status(status.code(), absl::StrCat("Invalid TensorProto for ", what, " ", tensors->size() - 1, ": ", status.message()));
  });
}

Status ParseWithTensors(const grpc::ByteBuffer& buffer, uint32_t field, absl::string_view what, google::protobuf::MessageLite* rest,
                        std::vector<Tensor>* tensors) {
  return Split(buffer, field, rest, [&](WireReader* reader, size_t length) {
    Status status = DecodeTensor(reader, length, &tensors->emplace_back());
    if (status.ok()) return status;
    return Status(status.code(), absl::StrCat("Invalid TensorProto for ", what, " ", tensors->size() - 1, ": ", status.message()));
  });
}

grpc::ByteBuffer SerializeWithNamedTensors(const google::protobuf::MessageLite& rest, uint32_t field, absl::Span<const NamedTensorView> tensors) {
  WireWriter writer;
  writer.Message(rest);
  for (const NamedTensorView& named : tensors) EncodeNamedTensorField(field, named, &writer);
  return writer.Finish();
}

grpc::ByteBuffer SerializeWithTensors(const google::protobuf::MessageLite& rest, uint32_t field, absl::Span<const Tensor> tensors) {
  WireWriter writer;
  writer.Message(rest);
  for (const Tensor& tensor : tensors) EncodeTensorField(field, tensor, &writer);
  return writer.Finish();
}

grpc::ByteBuffer EncodeRecvTensorResponse(const Tensor& tensor, bool is_dead, int64_t send_start_micros) {
  WireWriter writer;
  if (is_dead) writer.VarintField(2, 1);
  writer.VarintField(3, static_cast<uint64_t>(send_start_micros));
  if (is_dead) {
    EncodeTensorField(1, Tensor(kFloat, Shape{0}), &writer);
  } else {
    EncodeTensorField(1, tensor, &writer);
  }
  return writer.Finish();
}

Status DecodeRecvTensorResponse(const grpc::ByteBuffer& buffer, Tensor* tensor, bool* is_dead) {
  WireReader reader(buffer);
  auto malformed = [] { return InvalidArgument("the bytes are not a RecvTensorResponse"); };
  *is_dead = false;
  bool has_tensor = false;
  while (reader.left() > 0) {
    uint32_t number, wire_type;
    if (!reader.ReadTag(&number, &wire_type)) return malformed();
    if (number == 1 && wire_type == 2) {
      size_t length;
      if (!reader.ReadLength(&length)) return malformed();
      size_t after = reader.left() - length;
      RETURN_IF_ERROR(Annotate(DecodeTensor(&reader, length, tensor), "RecvTensorResponse"));
      if (!reader.Skip(reader.left() - after)) return malformed();
      has_tensor = true;
    } else if (number == 2 && wire_type == 0) {
      uint64_t value;
      if (!reader.ReadVarint(&value)) return malformed();
      *is_dead = value != 0;
    } else if (!reader.SkipValue(number, wire_type, nullptr)) {
      return malformed();
    }
  }
  return has_tensor || *is_dead ? OkStatus() : InvalidArgument("a RecvTensorResponse without a tensor");
}

}  // namespace tandem
