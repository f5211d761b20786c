// Messages as gRPC's byte buffers: reading across slices without joining them, writing with tensors' memory as slices of its own.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/status.h"
#include "tandem/tensor.h"

namespace google::protobuf {
class MessageLite;
}  // namespace google::protobuf

namespace tandem {

// InvalidArgument if the bytes are not such a message.
Status ParseMessage(const grpc::ByteBuffer& buffer, google::protobuf::MessageLite* message);
grpc::ByteBuffer SerializeMessage(const google::protobuf::MessageLite& message);

// Reads the wire format of protobuf. Copies share the slices: a copy marks a place to return to. Reading functions return false,
// having moved nowhere in particular, at the end or on malformed bytes.
class WireReader {
 public:
  explicit WireReader(const grpc::ByteBuffer& buffer);

  size_t left() const { return left_; }
  bool ReadVarint(uint64_t* value);
  bool ReadTag(uint32_t* field, uint32_t* wire_type);
  // A length that does not exceed left().
  bool ReadLength(size_t* length);
  bool ReadRaw(void* to, size_t size);
  bool ReadString(size_t size, std::string* to);
  bool Skip(size_t size);
  // Skips the value after a tag; appends its bytes, tag included, to `copy` if that is not null.
  bool SkipValue(uint32_t field, uint32_t wire_type, std::string* copy);

 private:
  void Advance(size_t size);

  std::shared_ptr<std::vector<grpc::Slice>> slices_;
  size_t next_ = 0;  // slice after the current one
  const uint8_t* at_ = nullptr;
  size_t in_slice_ = 0;
  size_t left_ = 0;
};

// Writes the wire format of protobuf.
class WireWriter {
 public:
  void Varint(uint64_t value);
  void Tag(uint32_t field, uint32_t wire_type) { Varint(uint64_t{field} << 3 | wire_type); }
  void VarintField(uint32_t field, uint64_t value) {
    Tag(field, 0);
    Varint(value);
  }
  void BytesField(uint32_t field, absl::string_view bytes);
  void Raw(absl::string_view bytes) { pending_.append(bytes.data(), bytes.size()); }
  // The elements of a plain tensor: by reference above kCopyLimit bytes, so its buffer must not be changed until it was sent.
  void TensorBody(const Tensor& tensor);
  void Message(const google::protobuf::MessageLite& message);
  grpc::ByteBuffer Finish();

  static constexpr size_t kCopyLimit = 1024;
  static size_t VarintSize(uint64_t value);

 private:
  void Flush();

  std::string pending_;
  std::vector<grpc::Slice> slices_;
};

}  // namespace tandem
