#include "checkpoint/bundle_format.h"

#include "absl/strings/str_format.h"
#include "proto/checkpoint.pb.h"
#include "proto/graph.pb.h"
#include "tensor/tensor_proto.h"

namespace tandem {
namespace {

constexpr int kVersion = 1;

// The message's fields in the order of their numbers, which is what makes files the same byte for byte.
template <typename Message>
std::string ToBytes(const Message& message) {
  return message.SerializeAsString();
}

}  // namespace

std::string IndexFileName(absl::string_view prefix) { return absl::StrCat(prefix, ".index"); }

std::string DataFileName(absl::string_view prefix, int shard, int shard_count) { return absl::StrFormat("%s.data-%05d-of-%05d", prefix, shard, shard_count); }

std::string BundleHeader::Serialize() const {
  tensorflow::BundleHeaderProto proto;
  proto.set_num_shards(shard_count);
  if (is_big_endian) proto.set_endianness(tensorflow::BundleHeaderProto::BIG);
  proto.mutable_version()->set_producer(kVersion);
  return ToBytes(proto);
}

StatusOr<BundleHeader> BundleHeader::Parse(absl::string_view bytes) {
  tensorflow::BundleHeaderProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return DataLoss("the header is damaged");
  const auto& version = proto.version();
  if (version.producer() < 0 || version.min_consumer() > kVersion) {
    return InvalidArgument("Checkpoint min consumer version ", version.min_consumer(), " above current version ", kVersion, "; a newer reader is needed");
  }
  for (int bad : version.bad_consumers()) {
    if (bad == kVersion) return InvalidArgument("Checkpoint disallows consumer version ", bad);
  }
  if (proto.num_shards() < 1) return DataLoss("the header says that there are ", proto.num_shards(), " data files");
  return BundleHeader{proto.num_shards(), proto.endianness() == tensorflow::BundleHeaderProto::BIG};
}

std::string BundleEntry::Serialize() const {
  tensorflow::BundleEntryProto proto;
  proto.set_dtype(static_cast<tensorflow::DataType>(dtype));
  ShapeToProto(shape, proto.mutable_shape());
  proto.set_shard_id(shard);
  proto.set_offset(offset);
  proto.set_size(size);
  proto.set_crc32c(masked_crc);
  for (const TensorSlice& slice : slices) slice.ToProto(proto.add_slices());
  return ToBytes(proto);
}

StatusOr<BundleEntry> BundleEntry::Parse(absl::string_view bytes) {
  tensorflow::BundleEntryProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return DataLoss("the entry is damaged");
  BundleEntry entry;
  entry.dtype = static_cast<DataType>(proto.dtype());
  StatusOr<Shape> shape = ShapeFromProto(proto.shape());
  if (!shape.ok()) return DataLoss(shape.status().message());
  entry.shape = *std::move(shape);
  entry.shard = proto.shard_id();
  entry.offset = proto.offset();
  entry.size = proto.size();
  entry.masked_crc = proto.crc32c();
  if (entry.shard < 0 || entry.offset < 0 || entry.size < 0) {
    return DataLoss("the entry says shard ", entry.shard, ", offset ", entry.offset, ", size ", entry.size);
  }
  for (const auto& given : proto.slices()) {
    StatusOr<TensorSlice> slice = TensorSlice::FromProto(given);
    if (!slice.ok()) return DataLoss(slice.status().message());
    StatusOr<Shape> inside = slice->ShapeWithin(entry.shape);
    if (!inside.ok()) return DataLoss(inside.status().message());
    entry.slices.push_back(*std::move(slice));
  }
  return entry;
}

}  // namespace tandem
