#include "summary/record_writer.h"

#include "core/crc32c.h"

namespace tandem {
namespace {

void StoreLittleEndian(uint64_t value, int bytes, char* to) {
  for (int i = 0; i < bytes; ++i) to[i] = static_cast<char>(value >> (8 * i));
}

}  // namespace

Status RecordWriter::Write(absl::string_view record) {
  char header[12], footer[4];
  StoreLittleEndian(record.size(), 8, header);
  StoreLittleEndian(MaskCrc(Crc32c(absl::string_view(header, 8))), 4, header + 8);
  StoreLittleEndian(MaskCrc(Crc32c(record)), 4, footer);
  RETURN_IF_ERROR(file_->Append(absl::string_view(header, sizeof header)));
  RETURN_IF_ERROR(file_->Append(record));
  return file_->Append(absl::string_view(footer, sizeof footer));
}

}  // namespace tandem
