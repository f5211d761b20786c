#include "summary/record_reader.h"

#include <algorithm>

#include "core/crc32c.h"

namespace tandem {
namespace {

constexpr size_t kHeaderBytes = 12;
constexpr size_t kFooterBytes = 4;
constexpr size_t kReadAheadBytes = 256 << 10;

uint64_t LoadLittleEndian(const char* from, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= static_cast<uint64_t>(static_cast<uint8_t>(from[i])) << (8 * i);
  return value;
}

bool HasChecksum(absl::string_view data, const char* stored) { return MaskCrc(Crc32c(data)) == static_cast<uint32_t>(LoadLittleEndian(stored, 4)); }

}  // namespace

StatusOr<absl::string_view> RecordReader::Peek(uint64_t offset, size_t size) {
  bool is_buffered = offset >= buffer_offset_ && offset + size <= buffer_offset_ + buffer_.size();
  if (!is_buffered) {
    buffer_.resize(std::max(size, kReadAheadBytes));
    StatusOr<size_t> got = file_->Read(offset, buffer_.size(), buffer_.data());
    buffer_.resize(got.ok() ? *got : 0);
    buffer_offset_ = offset;
    RETURN_IF_ERROR(got.status());
  }
  return absl::string_view(buffer_).substr(offset - buffer_offset_, size);
}

Status RecordReader::Read(std::string* record) {
  ASSIGN_OR_RETURN(absl::string_view header, Peek(offset_, kHeaderBytes));
  if (header.empty()) return OutOfRange("End of file");
  if (header.size() < kHeaderBytes) return DataLoss("truncated record at ", offset_, " of ", path());
  if (!HasChecksum(header.substr(0, 8), header.data() + 8)) return DataLoss("corrupted record at ", offset_, " of ", path());
  uint64_t length = LoadLittleEndian(header.data(), 8);
  // Compared before memory is asked for.
  ASSIGN_OR_RETURN(uint64_t file_size, file_->Size());
  uint64_t begin = offset_ + kHeaderBytes;
  if (begin > file_size || length > file_size - begin || file_size - begin - length < kFooterBytes) {
    return DataLoss("truncated record at ", offset_, " of ", path());
  }
  ASSIGN_OR_RETURN(absl::string_view data, Peek(begin, length + kFooterBytes));
  if (data.size() < length + kFooterBytes) return DataLoss("truncated record at ", offset_, " of ", path());
  if (!HasChecksum(data.substr(0, length), data.data() + length)) return DataLoss("corrupted record at ", begin, " of ", path());
  record->assign(data.data(), length);
  offset_ = begin + length + kFooterBytes;
  return OkStatus();
}

}  // namespace tandem
