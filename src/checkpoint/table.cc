#include "checkpoint/table.h"

#include <snappy.h>

#include <algorithm>
#include <cstring>

#include "core/crc32c.h"

namespace tandem {
namespace {

constexpr uint64_t kMagic = 0xdb4775248b80fb57u;
constexpr size_t kFooterBytes = 48;
constexpr size_t kTrailerBytes = 5;  // type, masked checksum of contents and type
constexpr size_t kBlockBytes = 262144;
constexpr char kUncompressed = 0;
constexpr char kSnappy = 1;

void AppendHandle(const BlockHandle& handle, std::string* out) {
  AppendVarint64(handle.offset, out);
  AppendVarint64(handle.size, out);
}

bool ConsumeHandle(absl::string_view* in, BlockHandle* handle) { return ConsumeVarint64(in, &handle->offset) && ConsumeVarint64(in, &handle->size); }

// A key k with start <= k < limit, as short as may be.
std::string ShortSeparator(absl::string_view start, absl::string_view limit) {
  size_t common = 0;
  while (common < std::min(start.size(), limit.size()) && start[common] == limit[common]) ++common;
  if (common < std::min(start.size(), limit.size())) {
    uint8_t byte = static_cast<uint8_t>(start[common]);
    if (byte < 0xff && byte + 1 < static_cast<uint8_t>(limit[common])) {
      std::string key(start.substr(0, common + 1));
      key.back() = static_cast<char>(byte + 1);
      return key;
    }
  }
  return std::string(start);
}

// A key that is not below `key`, as short as may be.
std::string ShortSuccessor(absl::string_view key) {
  for (size_t i = 0; i < key.size(); ++i) {
    if (static_cast<uint8_t>(key[i]) != 0xff) {
      std::string next(key.substr(0, i + 1));
      next.back() = static_cast<char>(static_cast<uint8_t>(key[i]) + 1);
      return next;
    }
  }
  return std::string(key);
}

// Calls visit(key, value) for each entry; false if the block is damaged. Stops early, with true, when visit returns false.
template <typename Visit>
bool ForEachEntry(absl::string_view block, Visit visit) {
  if (block.size() < 4) return false;
  uint32_t restart_count = LoadFixed32(block.data() + block.size() - 4);
  if (restart_count > (block.size() - 4) / 4) return false;
  absl::string_view entries = block.substr(0, block.size() - 4 - 4 * size_t{restart_count});
  std::string key;
  while (!entries.empty()) {
    uint64_t shared, unshared, value_size;
    if (!ConsumeVarint64(&entries, &shared) || !ConsumeVarint64(&entries, &unshared) || !ConsumeVarint64(&entries, &value_size)) return false;
    if (shared > key.size() || unshared > entries.size() || value_size > entries.size() - unshared) return false;
    key.resize(shared);
    key.append(entries.data(), unshared);
    entries.remove_prefix(unshared);
    if (!visit(absl::string_view(key), entries.substr(0, value_size))) return true;
    entries.remove_prefix(value_size);
  }
  return true;
}

}  // namespace

// ---- numbers ---------------------------------------------------------------------------------------------------------------

void AppendVarint64(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

bool ConsumeVarint64(absl::string_view* in, uint64_t* value) {
  uint64_t result = 0;
  for (int shift = 0; shift < 64 && !in->empty(); shift += 7) {
    uint64_t byte = static_cast<uint8_t>(in->front());
    in->remove_prefix(1);
    result |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      return true;
    }
  }
  return false;
}

void AppendFixed32(uint32_t value, std::string* out) {
  for (int i = 0; i < 4; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

uint32_t LoadFixed32(const char* from) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= static_cast<uint32_t>(static_cast<uint8_t>(from[i])) << (8 * i);
  return value;
}

// ---- writing ---------------------------------------------------------------------------------------------------------------

void BlockBuilder::Add(absl::string_view key, absl::string_view value) {
  size_t shared = 0;
  if (entry_count_ % restart_interval_ == 0) {
    if (entry_count_ > 0) restarts_.push_back(static_cast<uint32_t>(buffer_.size()));
  } else {
    while (shared < std::min(last_key_.size(), key.size()) && last_key_[shared] == key[shared]) ++shared;
  }
  AppendVarint64(shared, &buffer_);
  AppendVarint64(key.size() - shared, &buffer_);
  AppendVarint64(value.size(), &buffer_);
  buffer_.append(key.data() + shared, key.size() - shared);
  buffer_.append(value.data(), value.size());
  last_key_.assign(key.data(), key.size());
  ++entry_count_;
}

std::string BlockBuilder::Finish() {
  for (uint32_t restart : restarts_) AppendFixed32(restart, &buffer_);
  AppendFixed32(static_cast<uint32_t>(restarts_.size()), &buffer_);
  restarts_ = {0};
  entry_count_ = 0;
  last_key_.clear();
  return std::exchange(buffer_, std::string());
}

Status TableWriter::Add(absl::string_view key, absl::string_view value) {
  if (has_pending_) AddIndexEntry(ShortSeparator(last_key_, key));
  data_.Add(key, value);
  last_key_.assign(key.data(), key.size());
  return data_.size_estimate() >= kBlockBytes ? WriteDataBlock() : OkStatus();
}

Status TableWriter::WriteDataBlock() {
  if (data_.is_empty()) return OkStatus();
  ASSIGN_OR_RETURN(pending_, WriteBlock(data_.Finish()));
  has_pending_ = true;
  return OkStatus();
}

void TableWriter::AddIndexEntry(absl::string_view separator) {
  std::string handle;
  AppendHandle(pending_, &handle);
  index_.Add(separator, handle);
  has_pending_ = false;
}

StatusOr<BlockHandle> TableWriter::WriteBlock(absl::string_view contents) {
  BlockHandle handle{offset_, contents.size()};
  std::string trailer(1, kUncompressed);
  AppendFixed32(MaskCrc(ExtendCrc32c(Crc32c(contents), trailer.data(), 1)), &trailer);
  RETURN_IF_ERROR(file_->Append(contents));
  RETURN_IF_ERROR(file_->Append(trailer));
  offset_ += contents.size() + trailer.size();
  return handle;
}

Status TableWriter::Finish() {
  RETURN_IF_ERROR(WriteDataBlock());
  ASSIGN_OR_RETURN(BlockHandle metaindex, WriteBlock(BlockBuilder(16).Finish()));
  if (has_pending_) AddIndexEntry(ShortSuccessor(last_key_));
  ASSIGN_OR_RETURN(BlockHandle index, WriteBlock(index_.Finish()));
  std::string footer;
  AppendHandle(metaindex, &footer);
  AppendHandle(index, &footer);
  footer.resize(kFooterBytes - 8);
  AppendFixed32(static_cast<uint32_t>(kMagic), &footer);
  AppendFixed32(static_cast<uint32_t>(kMagic >> 32), &footer);
  return file_->Append(footer);
}

// ---- reading ---------------------------------------------------------------------------------------------------------------

StatusOr<std::unique_ptr<TableReader>> TableReader::Open(absl::string_view path) {
  ASSIGN_OR_RETURN(std::unique_ptr<ReadableFile> file, ReadableFile::Open(path));
  std::unique_ptr<TableReader> table(new TableReader(std::move(file)));
  RETURN_IF_ERROR(table->ReadIndex());
  return table;
}

Status TableReader::Damaged(absl::string_view what) const { return DataLoss(path(), ": ", what); }

Status TableReader::ReadIndex() {
  ASSIGN_OR_RETURN(file_size_, file_->Size());
  if (file_size_ < kFooterBytes) return Damaged("file is too short to be an sstable");
  char footer[kFooterBytes];
  RETURN_IF_ERROR(file_->ReadExactly(file_size_ - kFooterBytes, kFooterBytes, footer));
  uint64_t magic = LoadFixed32(footer + 40) | static_cast<uint64_t>(LoadFixed32(footer + 44)) << 32;
  if (magic != kMagic) return Damaged("not an sstable (bad magic number)");
  absl::string_view handles(footer, kFooterBytes - 8);
  BlockHandle metaindex, index;
  if (!ConsumeHandle(&handles, &metaindex) || !ConsumeHandle(&handles, &index)) return Damaged("bad block handle in the footer");
  ASSIGN_OR_RETURN(std::string block, ReadBlock(index));
  bool are_handles_good = true;
  bool is_good = ForEachEntry(block, [&](absl::string_view key, absl::string_view value) {
    BlockHandle handle;
    are_handles_good = ConsumeHandle(&value, &handle);
    index_.emplace_back(std::string(key), handle);
    return are_handles_good;
  });
  return is_good && are_handles_good ? OkStatus() : Damaged("the index block is damaged");
}

StatusOr<std::string> TableReader::ReadBlock(const BlockHandle& handle) const {
  if (handle.offset > file_size_ || handle.size > file_size_ || handle.offset + handle.size + kTrailerBytes > file_size_) {
    return Damaged("truncated block read");
  }
  std::string block(handle.size + kTrailerBytes, '\0');
  RETURN_IF_ERROR(file_->ReadExactly(handle.offset, block.size(), block.data()));
  uint32_t stored = UnmaskCrc(LoadFixed32(block.data() + handle.size + 1));
  if (Crc32c(absl::string_view(block).substr(0, handle.size + 1)) != stored) return Damaged("block checksum mismatch");
  char type = block[handle.size];
  block.resize(handle.size);
  if (type == kUncompressed) return block;
  size_t length = 0;
  // A Snappy element makes at most 64 bytes of 3: a length beyond that is a lie, not to be allocated.
  if (type != kSnappy || !snappy::GetUncompressedLength(block.data(), block.size(), &length) || length / 32 > block.size()) {
    return Damaged("bad block type or length");
  }
  std::string plain(length, '\0');
  if (!snappy::RawUncompress(block.data(), block.size(), plain.data())) return Damaged("corrupted compressed block contents");
  return plain;
}

Status TableReader::ForEach(absl::FunctionRef<Status(absl::string_view key, absl::string_view value)> visit) const {
  std::string last_key;
  bool is_first = true;
  for (const auto& [separator, handle] : index_) {
    ASSIGN_OR_RETURN(std::string block, ReadBlock(handle));
    Status status;
    bool is_good = ForEachEntry(block, [&](absl::string_view key, absl::string_view value) {
      status = !is_first && key <= last_key ? Damaged("the keys are not in order") : visit(key, value);
      is_first = false;
      last_key.assign(key.data(), key.size());
      return status.ok();
    });
    RETURN_IF_ERROR(status);
    if (!is_good) return Damaged("bad entry in block");
  }
  return OkStatus();
}

StatusOr<std::string> TableReader::Lookup(absl::string_view key) const {
  auto at = std::lower_bound(index_.begin(), index_.end(), key, [](const auto& entry, absl::string_view wanted) { return entry.first < wanted; });
  if (at != index_.end()) {
    ASSIGN_OR_RETURN(std::string block, ReadBlock(at->second));
    bool is_found = false;
    std::string found;
    bool is_good = ForEachEntry(block, [&](absl::string_view candidate, absl::string_view value) {
      is_found = candidate == key;
      if (is_found) found.assign(value.data(), value.size());
      return !is_found;
    });
    if (is_found) return found;
    if (!is_good) return Damaged("bad entry in block");
  }
  return NotFound(path(), " has no key ", key);
}

}  // namespace tandem
