// Tensors inside the messages that carry them. The bytes of a plain tensor are sent from its own buffer, and received with one copy:
// from gRPC's slices into the new tensor. Any legal encoding is accepted; what is not plain takes the way through protobuf.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cluster/message_buffer.h"

namespace tandem {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// A reference to both, for sending.
struct NamedTensorView {
  absl::string_view name;
  const Tensor* tensor;
};

// One TensorProto of `length` bytes. InvalidArgument for what §3.8 of the wire specification calls wrong.
Status DecodeTensor(WireReader* reader, size_t length, Tensor* tensor);
// One field that holds a TensorProto.
void EncodeTensorField(uint32_t field, const Tensor& tensor, WireWriter* writer);
void EncodeNamedTensorField(uint32_t field, const NamedTensorView& named, WireWriter* writer);

// Parses a message whose repeated field `field` is of type NamedTensorProto (TensorProto) straight into tensors, everything else
// into `rest`. InvalidArgument "Invalid TensorProto for <what> <i>: …" if a tensor is wrong.
Status ParseWithNamedTensors(const grpc::ByteBuffer& buffer, uint32_t field, absl::string_view what, google::protobuf::MessageLite* rest,
                             std::vector<NamedTensor>* tensors);
Status ParseWithTensors(const grpc::ByteBuffer& buffer, uint32_t field, absl::string_view what, google::protobuf::MessageLite* rest,
                        std::vector<Tensor>* tensors);

// `rest`, then the tensors in field `field`.
grpc::ByteBuffer SerializeWithNamedTensors(const google::protobuf::MessageLite& rest, uint32_t field, absl::Span<const NamedTensorView> tensors);
grpc::ByteBuffer SerializeWithTensors(const google::protobuf::MessageLite& rest, uint32_t field, absl::Span<const Tensor> tensors);

// RecvTensorResponse, in the byte order that TensorFlow's fast parser likes: small fields, then dtype, shape and the body last.
// A dead tensor is sent as float[0] whatever its type.
grpc::ByteBuffer EncodeRecvTensorResponse(const Tensor& tensor, bool is_dead, int64_t send_start_micros);
Status DecodeRecvTensorResponse(const grpc::ByteBuffer& buffer, Tensor* tensor, bool* is_dead);

}  // namespace tandem
