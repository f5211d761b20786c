#include "checkpoint/bundle_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "checkpoint/table.h"
#include "core/crc32c.h"

namespace tandem {
namespace {

// Large tensors are read and summed in pieces that stay in the processor's cache between the two.
constexpr size_t kPieceBytes = size_t{1} << 20;

// The bytes of numbers of `width` bytes in the other order.
void SwapBytes(char* data, size_t bytes, size_t width) {
  for (size_t at = 0; at + width <= bytes; at += width) std::reverse(data + at, data + at + width);
}

size_t NumberWidth(DataType dtype) { return IsComplex(dtype) ? DataTypeSize(dtype) / 2 : DataTypeSize(dtype); }

bool Overlap(const TensorSlice& a, const TensorSlice& b) {
  for (size_t i = 0; i < a.extents.size(); ++i) {
    const SliceExtent &x = a.extents[i], &y = b.extents[i];
    if (x.start + x.length <= y.start || y.start + y.length <= x.start) return false;
  }
  return true;
}

}  // namespace

StatusOr<std::unique_ptr<BundleReader>> BundleReader::Open(absl::string_view prefix) {
  std::unique_ptr<BundleReader> reader(new BundleReader(std::string(prefix)));
  ASSIGN_OR_RETURN(std::unique_ptr<TableReader> table, TableReader::Open(IndexFileName(prefix)));
  bool has_header = false;
  RETURN_IF_ERROR(table->ForEach([&](absl::string_view key, absl::string_view value) -> Status {
    if (key.empty()) {
      StatusOr<BundleHeader> header = BundleHeader::Parse(value);
      if (!header.ok()) return Annotate(header.status(), table->path());
      reader->header_ = *header;
      has_header = true;
      return OkStatus();
    }
    StatusOr<BundleEntry> entry = BundleEntry::Parse(value);
    if (!entry.ok()) return Annotate(entry.status(), absl::StrCat(table->path(), " key ", key));
    reader->entries_.emplace_hint(reader->entries_.end(), std::string(key), *std::move(entry));
    return OkStatus();
  }));
  if (!has_header) return DataLoss(table->path(), " has no header");
  return reader;
}

const BundleEntry* BundleReader::Find(absl::string_view name) const {
  auto found = entries_.find(std::string(name));
  return found == entries_.end() ? nullptr : &found->second;
}

StatusOr<const BundleEntry*> BundleReader::Lookup(absl::string_view name) const {
  const BundleEntry* entry = Find(name);
  if (entry == nullptr) return NotFound("Key ", name, " not found in checkpoint");
  return entry;
}

StatusOr<const ReadableFile*> BundleReader::DataFile(int shard) const {
  if (shard >= header_.shard_count) return DataLoss(prefix_, ": an entry is in data file ", shard, " of ", header_.shard_count);
  MutexLock lock(&mu_);
  std::unique_ptr<ReadableFile>& file = files_[shard];
  if (file == nullptr) {
    ASSIGN_OR_RETURN(file, ReadableFile::Open(DataFileName(prefix_, shard, header_.shard_count)));
  }
  return file.get();
}

StatusOr<Tensor> BundleReader::Read(absl::string_view name) const {
  ASSIGN_OR_RETURN(const BundleEntry* entry, Lookup(name));
  if (entry->slices.empty()) return ReadEntry(*entry);
  return Assemble(name, *entry, TensorSlice::Whole(entry->shape.rank()));
}

StatusOr<Tensor> BundleReader::ReadSlice(absl::string_view name, const TensorSlice& slice) const {
  ASSIGN_OR_RETURN(const BundleEntry* entry, Lookup(name));
  ASSIGN_OR_RETURN(Shape shape, slice.ShapeWithin(entry->shape));
  if (!entry->slices.empty()) return Assemble(name, *entry, slice);
  ASSIGN_OR_RETURN(Tensor whole, ReadEntry(*entry));
  if (slice.Covers(entry->shape)) return whole;
  ASSIGN_OR_RETURN(Tensor cut, Tensor::Allocate(entry->dtype, shape));
  CopyOverlap(whole, TensorSlice::Whole(entry->shape.rank()).Resolved(entry->shape), &cut, slice.Resolved(entry->shape));
  return cut;
}

StatusOr<Tensor> BundleReader::Assemble(absl::string_view name, const BundleEntry& whole, const TensorSlice& slice) const {
  TensorSlice wanted = slice.Resolved(whole.shape);
  ASSIGN_OR_RETURN(Shape shape, slice.ShapeWithin(whole.shape));
  std::vector<TensorSlice> used;
  Tensor assembled;
  int64_t copied = 0;
  for (const TensorSlice& stored : whole.slices) {
    TensorSlice part = stored.Resolved(whole.shape);
    if (!Overlap(part, wanted)) continue;
    for (const TensorSlice& other : used) {
      if (Overlap(part, other)) return DataLoss(prefix_, ": Overlapping slices of ", name, ": ", other.ToString(), " and ", stored.ToString());
    }
    const BundleEntry* entry = Find(EncodeSliceKey(name, stored));
    if (entry == nullptr) return DataLoss(prefix_, ": the slice ", stored.ToString(), " of ", name, " is missing");
    ASSIGN_OR_RETURN(Shape part_shape, stored.ShapeWithin(whole.shape));
    if (entry->shape != part_shape || entry->dtype != whole.dtype || !entry->slices.empty()) {
      return DataLoss(prefix_, ": the slice ", stored.ToString(), " of ", name, " is ", DataTypeName(entry->dtype), entry->shape.ToString(), ", not ",
                      DataTypeName(whole.dtype), part_shape.ToString());
    }
    ASSIGN_OR_RETURN(Tensor piece, ReadEntry(*entry));
    if (part == wanted) return piece;
    if (!assembled.has_value()) {
      ASSIGN_OR_RETURN(assembled, Tensor::Allocate(whole.dtype, shape));
    }
    copied += CopyOverlap(piece, part, &assembled, wanted);
    used.push_back(std::move(part));
  }
  if (copied < shape.num_elements()) {
    return InvalidArgument("Does not have sufficient slices for partitioned tensor ", name, " to restore in slice_spec: ", slice.ToString());
  }
  return assembled.has_value() ? StatusOr<Tensor>(std::move(assembled)) : Tensor::Allocate(whole.dtype, shape);
}

StatusOr<Tensor> BundleReader::ReadEntry(const BundleEntry& entry) const {
  ASSIGN_OR_RETURN(const ReadableFile* file, DataFile(entry.shard));
  if (DataTypeSize(entry.dtype) == 0 || entry.dtype == kResource) {
    return Unimplemented(prefix_, ": tensors of type ", DataTypeName(entry.dtype), " cannot be restored");
  }
  // Compared before memory is asked for: an entry that lies must not cost more than its file.
  ASSIGN_OR_RETURN(uint64_t file_size, file->Size());
  if (static_cast<uint64_t>(entry.offset) > file_size || static_cast<uint64_t>(entry.size) > file_size - static_cast<uint64_t>(entry.offset)) {
    return DataLoss(file->path(), " ends early: it has ", file_size, " bytes, a tensor needs ", entry.size, " from ", entry.offset);
  }
  int64_t count = entry.shape.num_elements(), bytes;
  bool is_string = entry.dtype == kString;
  bool is_size_possible =
      is_string ? count <= entry.size : !__builtin_mul_overflow(count, static_cast<int64_t>(DataTypeSize(entry.dtype)), &bytes) && bytes == entry.size;
  if (!is_size_possible) {
    return DataLoss(prefix_, ": Invalid size in bundle entry: ", DataTypeName(entry.dtype), entry.shape.ToString(), " stored in ", entry.size, " bytes");
  }
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(entry.dtype, entry.shape));
  RETURN_IF_ERROR(is_string ? ReadStrings(entry, *file, &tensor) : ReadNumbers(entry, *file, &tensor));
  return tensor;
}

Status BundleReader::ReadNumbers(const BundleEntry& entry, const ReadableFile& file, Tensor* tensor) const {
  char* to = static_cast<char*>(tensor->mutable_raw_data());
  size_t bytes = static_cast<size_t>(entry.size);
  uint32_t crc = 0;
  for (size_t done = 0; done < bytes; done += kPieceBytes) {
    size_t piece = std::min(kPieceBytes, bytes - done);
    RETURN_IF_ERROR(file.ReadExactly(static_cast<uint64_t>(entry.offset) + done, piece, to + done));
    crc = ExtendCrc32c(crc, to + done, piece);
  }
  if (MaskCrc(crc) != entry.masked_crc) return ChecksumMismatch(entry, crc);
  if (header_.is_big_endian) SwapBytes(to, bytes, NumberWidth(entry.dtype));
  // Any other byte than 0 and 1 in a bool is undefined behaviour for whoever reads it.
  if (entry.dtype == kBool) std::transform(to, to + bytes, to, [](char byte) { return static_cast<char>(byte != 0); });
  return OkStatus();
}

Status BundleReader::ReadStrings(const BundleEntry& entry, const ReadableFile& file, Tensor* tensor) const {
  std::string bytes(static_cast<size_t>(entry.size), '\0');
  RETURN_IF_ERROR(file.ReadExactly(static_cast<uint64_t>(entry.offset), bytes.size(), bytes.data()));
  auto damaged = [&] { return DataLoss("TensorBundle at ", prefix_, " shard ", entry.shard, " (", entry.size, " bytes): the string lengths are damaged"); };
  absl::string_view rest = bytes;
  std::vector<uint64_t> lengths(static_cast<size_t>(tensor->num_elements()));
  uint32_t crc = 0;
  uint64_t total = 0;
  for (uint64_t& length : lengths) {
    if (!ConsumeVarint64(&rest, &length) || length > bytes.size()) return damaged();
    total += length;
    // Entries of less than 2^32 bytes only hold lengths that are summed as four bytes; see the writer.
    std::string fixed;
    AppendFixed32(static_cast<uint32_t>(length), &fixed);
    if (length > 0xffffffffu) AppendFixed32(static_cast<uint32_t>(length >> 32), &fixed);
    crc = ExtendCrc32c(crc, fixed.data(), fixed.size());
  }
  if (rest.size() < 4 || total != rest.size() - 4) return damaged();
  uint32_t stored = LoadFixed32(rest.data());
  if (header_.is_big_endian) stored = __builtin_bswap32(stored);
  if (UnmaskCrc(stored) != crc) {
    return DataLoss("TensorBundle at ", prefix_, " shard ", entry.shard, ": The length checksum does not match: expected ", absl::StrFormat("%08u", crc),
                    " but got ", absl::StrFormat("%08u", UnmaskCrc(stored)));
  }
  crc = ExtendCrc32c(crc, rest.data(), rest.size());
  if (MaskCrc(crc) != entry.masked_crc) return ChecksumMismatch(entry, crc);
  rest.remove_prefix(4);
  std::string* to = tensor->mutable_data<std::string>();
  for (size_t i = 0; i < lengths.size(); ++i) {
    to[i].assign(rest.data(), lengths[i]);
    rest.remove_prefix(lengths[i]);
  }
  return OkStatus();
}

Status BundleReader::ChecksumMismatch(const BundleEntry& entry, uint32_t computed) const {
  return DataLoss("TensorBundle at ", prefix_, " shard ", entry.shard, " (", entry.size, " bytes): Checksum does not match: stored ",
                  absl::StrFormat("%08u", UnmaskCrc(entry.masked_crc)), " vs. calculated on the restored bytes ", computed);
}

}  // namespace tandem
