#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "summary/record_reader.h"
#include "summary/record_writer.h"

namespace tandem {
namespace {

std::string FreshPath() { return absl::StrCat(testing::TempDir(), "record_test_", RandomUint64()); }

std::string WriteRecords(const std::vector<std::string>& records) {
  std::string path = FreshPath();
  StatusOr<std::unique_ptr<WritableFile>> file = WritableFile::Create(path);
  RecordWriter writer(file->get());
  for (const std::string& record : records) EXPECT_TRUE(writer.Write(record).ok());
  EXPECT_TRUE((*file)->Close().ok());
  return path;
}

// All records, and how it ended.
std::string ReadRecords(const std::string& path) {
  RecordReader reader(*ReadableFile::Open(path));
  std::string all, record;
  while (true) {
    Status status = reader.Read(&record);
    if (!status.ok()) return absl::StrCat(all, absl::StatusCodeToString(status.code()), " ", status.message().substr(0, status.message().find(" of /")));
    absl::StrAppend(&all, record.size() > 10 ? absl::StrCat(record.size(), " bytes") : record, "|");
  }
}

TEST(RecordWriter, GoldenBytes) { EXPECT_EQ(absl::BytesToHexString(*ReadWholeFile(WriteRecords({"hello"}))), "0500000000000000eab2043e68656c6c6fbb1f1c19"); }

TEST(RecordReader, ReadsWhatWasWritten) {
  EXPECT_EQ(ReadRecords(WriteRecords({"a", "", std::string(1000000, 'x'), "b"})), "a||1000000 bytes|b|OUT_OF_RANGE End of file");
  EXPECT_EQ(ReadRecords(WriteRecords({})), "OUT_OF_RANGE End of file");
}

TEST(RecordReader, CutsAreTruncatedRecords) {
  std::string path = WriteRecords({"a", "hello"});
  std::string bytes = *ReadWholeFile(path);
  for (size_t size = 18; size < bytes.size(); ++size) {
    ASSERT_TRUE(WriteWholeFile(path, bytes.substr(0, size)).ok());
    EXPECT_EQ(ReadRecords(path), "a|DATA_LOSS truncated record at 17") << size;
  }
}

TEST(RecordReader, FlipsAreCorruptedRecords) {
  std::string path = WriteRecords({"a", "hello"});
  std::string bytes = *ReadWholeFile(path);
  for (size_t i = 17; i < bytes.size(); ++i) {
    std::string flipped = bytes;
    flipped[i] ^= 4;
    ASSERT_TRUE(WriteWholeFile(path, flipped).ok());
    EXPECT_EQ(ReadRecords(path), absl::StrCat("a|DATA_LOSS corrupted record at ", i < 29 ? 17 : 29)) << i;
  }
}

TEST(RecordReader, GoesOnWhenTheFileGrows) {
  std::string path = WriteRecords({"a", "hello"});
  std::string bytes = *ReadWholeFile(path);
  ASSERT_TRUE(WriteWholeFile(path, bytes.substr(0, 30)).ok());
  RecordReader reader(*ReadableFile::Open(path));
  std::string record;
  ASSERT_TRUE(reader.Read(&record).ok());
  EXPECT_EQ(reader.Read(&record).code(), absl::StatusCode::kDataLoss);
  StatusOr<std::unique_ptr<WritableFile>> file = WritableFile::OpenToAppend(path);
  ASSERT_TRUE((*file)->Append(bytes.substr(30)).ok());
  ASSERT_TRUE((*file)->Close().ok());
  ASSERT_TRUE(reader.Read(&record).ok());
  EXPECT_EQ(record, "hello");
}

}  // namespace
}  // namespace tandem
