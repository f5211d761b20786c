#include "cluster/message_buffer.h"

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message_lite.h>

#include <algorithm>
#include <climits>
#include <cstring>

namespace tandem {
namespace {

void Unref(void* buffer) { static_cast<Buffer*>(buffer)->Unref(); }

}  // namespace

Status ParseMessage(const grpc::ByteBuffer& buffer, google::protobuf::MessageLite* message) {
  grpc::Slice single;
  bool is_parsed;
  if (buffer.TrySingleSlice(&single).ok()) {
    is_parsed = single.size() <= INT_MAX && message->ParseFromArray(single.begin(), static_cast<int>(single.size()));
  } else {
    std::string joined;
    WireReader reader(buffer);
    is_parsed = reader.left() <= INT_MAX && reader.ReadString(reader.left(), &joined) && message->ParseFromString(joined);
  }
  return is_parsed ? OkStatus() : InvalidArgument("the request is not a ", message->GetTypeName());
}

grpc::ByteBuffer SerializeMessage(const google::protobuf::MessageLite& message) {
  WireWriter writer;
  writer.Message(message);
  return writer.Finish();
}

// ---- reading --------------------------------------------------------------------------------------------------------------

WireReader::WireReader(const grpc::ByteBuffer& buffer) : slices_(std::make_shared<std::vector<grpc::Slice>>()) {
  if (!buffer.Valid()) return;
  grpc::Slice single;
  if (buffer.TrySingleSlice(&single).ok()) {
    slices_->push_back(std::move(single));
  } else if (!buffer.Dump(slices_.get()).ok()) {
    slices_->clear();
  }
  for (const grpc::Slice& slice : *slices_) left_ += slice.size();
  Advance(0);
}

void WireReader::Advance(size_t size) {
  at_ += size;
  in_slice_ -= size;
  left_ -= size;
  while (in_slice_ == 0 && next_ < slices_->size()) {
    at_ = (*slices_)[next_].begin();
    in_slice_ = (*slices_)[next_].size();
    ++next_;
  }
}

bool WireReader::ReadVarint(uint64_t* value) {
  uint64_t result = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (left_ == 0) return false;
    uint8_t byte = *at_;
    Advance(1);
    result |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) {
      *value = result;
      return true;
    }
  }
  return false;
}

bool WireReader::ReadTag(uint32_t* field, uint32_t* wire_type) {
  uint64_t tag;
  if (!ReadVarint(&tag) || tag > UINT32_MAX || tag >> 3 == 0) return false;
  *field = static_cast<uint32_t>(tag >> 3);
  *wire_type = static_cast<uint32_t>(tag & 7);
  return true;
}

bool WireReader::ReadLength(size_t* length) {
  uint64_t value;
  if (!ReadVarint(&value) || value > left_) return false;
  *length = static_cast<size_t>(value);
  return true;
}

bool WireReader::ReadRaw(void* to, size_t size) {
  if (size > left_) return false;
  auto* out = static_cast<uint8_t*>(to);
  while (size > 0) {
    size_t part = std::min(size, in_slice_);
    std::memcpy(out, at_, part);
    Advance(part);
    out += part;
    size -= part;
  }
  return true;
}

bool WireReader::ReadString(size_t size, std::string* to) {
  if (size > left_) return false;
  to->resize(size);
  return ReadRaw(to->data(), size);
}

bool WireReader::Skip(size_t size) {
  if (size > left_) return false;
  while (size > 0) {
    size_t part = std::min(size, in_slice_);
    Advance(part);
    size -= part;
  }
  return true;
}

bool WireReader::SkipValue(uint32_t field, uint32_t wire_type, std::string* copy) {
  uint64_t number = 0;
  size_t length = 0;
  switch (wire_type) {
    case 0:
      if (!ReadVarint(&number)) return false;
      break;
    case 1:
      length = 8;
      break;
    case 2:
      if (!ReadLength(&length)) return false;
      break;
    case 5:
      length = 4;
      break;
    default:  // groups are not used by any message of the protocol
      return false;
  }
  if (copy == nullptr) return Skip(length);
  auto append_varint = [copy](uint64_t value) {
    for (; value >= 0x80; value >>= 7) copy->push_back(static_cast<char>(value | 0x80));
    copy->push_back(static_cast<char>(value));
  };
  append_varint(uint64_t{field} << 3 | wire_type);
  if (wire_type == 0) append_varint(number);
  if (wire_type == 2) append_varint(length);
  if (length > left_) return false;
  size_t old_size = copy->size();
  copy->resize(old_size + length);
  return ReadRaw(copy->data() + old_size, length);
}

// ---- writing --------------------------------------------------------------------------------------------------------------

size_t WireWriter::VarintSize(uint64_t value) {
  size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

void WireWriter::Varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) pending_.push_back(static_cast<char>(value | 0x80));
  pending_.push_back(static_cast<char>(value));
}

void WireWriter::BytesField(uint32_t field, absl::string_view bytes) {
  Tag(field, 2);
  Varint(bytes.size());
  Raw(bytes);
}

void WireWriter::TensorBody(const Tensor& tensor) {
  size_t size = tensor.byte_size();
  if (size <= kCopyLimit) {
    Raw(absl::string_view(static_cast<const char*>(tensor.raw_data()), size));
    return;
  }
  Flush();
  tensor.buffer()->Ref();
  slices_.emplace_back(const_cast<void*>(tensor.raw_data()), size, Unref, tensor.buffer());
}

void WireWriter::Message(const google::protobuf::MessageLite& message) { message.AppendToString(&pending_); }

void WireWriter::Flush() {
  if (pending_.empty()) return;
  slices_.emplace_back(pending_.data(), pending_.size());
  pending_.clear();
}

grpc::ByteBuffer WireWriter::Finish() {
  Flush();
  if (slices_.empty()) slices_.emplace_back();
  return grpc::ByteBuffer(slices_.data(), slices_.size());
}

}  // namespace tandem
