#include "checkpoint/table.h"

#include <gtest/gtest.h>
#include <snappy.h>

#include "checkpoint/test_files.h"
#include "core/crc32c.h"

namespace tandem {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

std::string Write(const Entries& entries) {
  std::string path = FreshDirectory() + "/t";
  StatusOr<std::unique_ptr<WritableFile>> file = WritableFile::Create(path);
  TableWriter table(file->get());
  for (const auto& [key, value] : entries) EXPECT_TRUE(table.Add(key, value).ok());
  EXPECT_TRUE(table.Finish().ok());
  EXPECT_TRUE((*file)->Close().ok());
  return path;
}

TEST(Table, LookupFindsEachKeyInItsBlock) {
  Entries entries;
  for (int i = 0; i < 100; ++i) entries.emplace_back(absl::StrCat("key", 1000 + i), std::string(10000, static_cast<char>('a' + i % 26)));
  std::string path = Write(entries);
  StatusOr<std::unique_ptr<TableReader>> table = TableReader::Open(path);
  ASSERT_TRUE(table.ok()) << table.status();
  for (const auto& [key, value] : entries) EXPECT_EQ(*(*table)->Lookup(key), value);
  for (const char* absent : {"", "key", "key10005", "key2", "z"}) EXPECT_EQ((*table)->Lookup(absent).status().code(), absl::StatusCode::kNotFound);
}

TEST(Table, EmptyOnesAreTables) {
  StatusOr<std::unique_ptr<TableReader>> table = TableReader::Open(Write({}));
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_TRUE((*table)->ForEach([](absl::string_view, absl::string_view) { return Internal("there is an entry"); }).ok());
}

// A table of one data block that holds `contents` as they are.
std::string WithDataBlock(const std::string& contents, char type) {
  std::string bytes;
  auto add_block = [&](const std::string& block, char block_type) {
    std::string handle;
    AppendVarint64(bytes.size(), &handle);
    AppendVarint64(block.size(), &handle);
    bytes += block + block_type;
    AppendFixed32(MaskCrc(Crc32c(block + block_type)), &bytes);
    return handle;
  };
  BlockBuilder index(1);
  index.Add("zz", add_block(contents, type));
  std::string footer = add_block(BlockBuilder(16).Finish(), 0);
  footer += add_block(index.Finish(), 0);
  footer.resize(40);
  bytes += footer + "\x57\xfb\x80\x8b\x24\x75\x47\xdb";
  std::string path = FreshDirectory() + "/t";
  EXPECT_TRUE(WriteWholeFile(path, bytes).ok());
  return path;
}

Status ReadAll(const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<TableReader> table, TableReader::Open(path));
  return table->ForEach([](absl::string_view, absl::string_view) { return OkStatus(); });
}

TEST(Table, SnappyBlocksAreRead) {
  BlockBuilder block(16);
  block.Add("a", std::string(1000, 'v'));
  block.Add("b", "w");
  std::string plain = block.Finish(), packed;
  snappy::Compress(plain.data(), plain.size(), &packed);
  EXPECT_EQ(*(*TableReader::Open(WithDataBlock(packed, 1)))->Lookup("b"), "w");
  EXPECT_EQ(ReadAll(WithDataBlock(packed.substr(0, 20), 1)).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ReadAll(WithDataBlock("\xff\xff\xff\xff\x0f", 1)).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ReadAll(WithDataBlock(plain, 2)).code(), absl::StatusCode::kDataLoss);
}

TEST(Table, MalformedEntriesAreDataLoss) {
  std::string restarts("\0\0\0\0\1\0\0\0", 8);
  EXPECT_TRUE(ReadAll(WithDataBlock(std::string("\0\1\1av", 5) + restarts, 0)).ok());
  for (const std::string& entries : {std::string("\1\1\1av", 5), std::string("\0\x70\1av", 5), std::string("\0\1\x70""av", 5), std::string("\0\1", 2), std::string("\x80\x80", 2),
                                     std::string("\0\1\0b\0\1\0a", 8), std::string("\0\1\0b\0\1\0b", 8)}) {
    EXPECT_EQ(ReadAll(WithDataBlock(entries + restarts, 0)).code(), absl::StatusCode::kDataLoss) << absl::CEscape(entries);
  }
  EXPECT_EQ(ReadAll(WithDataBlock("", 0)).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ReadAll(WithDataBlock("\xff\xff\xff\xff", 0)).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace tandem
