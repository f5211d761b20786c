// Sorted tables of byte strings in LevelDB's file format: a checkpoint's index. Layout: tensorflow-wire specification, section 4.2.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "core/file.h"
#include "core/status.h"

namespace tandem {

// Where a block lies in its file; `size` is without the 5 bytes of type and checksum that follow it.
struct BlockHandle {
  uint64_t offset = 0;
  uint64_t size = 0;
};

// The entries of one block, each key without the prefix that it shares with the one before.
class BlockBuilder {
 public:
  // Every `restart_interval` entries a key is written whole.
  explicit BlockBuilder(int restart_interval) : restart_interval_(restart_interval) {}

  void Add(absl::string_view key, absl::string_view value);
  // The block's contents. Starts anew.
  std::string Finish();
  bool is_empty() const { return entry_count_ == 0; }
  size_t size_estimate() const { return buffer_.size() + 4 * restarts_.size() + 4; }

 private:
  const int restart_interval_;
  std::string buffer_;
  std::string last_key_;
  std::vector<uint32_t> restarts_ = {0};
  int entry_count_ = 0;
};

// Writes a table to the end of a file that it does not own. Uncompressed, as TensorFlow does.
class TableWriter {
 public:
  explicit TableWriter(WritableFile* file) : file_(file) {}

  // Keys must come in increasing order.
  Status Add(absl::string_view key, absl::string_view value);
  Status Finish();

 private:
  Status WriteDataBlock();
  StatusOr<BlockHandle> WriteBlock(absl::string_view contents);
  void AddIndexEntry(absl::string_view separator);

  WritableFile* const file_;
  uint64_t offset_ = 0;
  BlockBuilder data_{16};
  BlockBuilder index_{1};
  std::string last_key_;
  // A block is entered into the index when the next key is known: any key between the two will do, and a short one is chosen.
  bool has_pending_ = false;
  BlockHandle pending_;
};

// Reads a table. All that is wrong with it is DataLoss that names the file. Any thread.
class TableReader {
 public:
  static StatusOr<std::unique_ptr<TableReader>> Open(absl::string_view path);

  const std::string& path() const { return file_->path(); }
  // In the order of the keys, until `visit` fails. The views are valid during the call.
  Status ForEach(absl::FunctionRef<Status(absl::string_view key, absl::string_view value)> visit) const;
  // NotFound if there is no such key.
  StatusOr<std::string> Lookup(absl::string_view key) const;

 private:
  explicit TableReader(std::unique_ptr<ReadableFile> file) : file_(std::move(file)) {}
  Status ReadIndex();
  StatusOr<std::string> ReadBlock(const BlockHandle& handle) const;
  Status Damaged(absl::string_view what) const;

  const std::unique_ptr<ReadableFile> file_;
  uint64_t file_size_ = 0;
  std::vector<std::pair<std::string, BlockHandle>> index_;  // a key not below the last one of the block
};

// Little helpers for the numbers of such files.
void AppendVarint64(uint64_t value, std::string* out);
bool ConsumeVarint64(absl::string_view* in, uint64_t* value);
void AppendFixed32(uint32_t value, std::string* out);
uint32_t LoadFixed32(const char* from);

}  // namespace tandem
