#include "core/file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/random.h"

namespace tandem {
namespace {

std::string FreshDirectory() {
  std::string path = absl::StrCat(testing::TempDir(), "file_test_", RandomUint64());
  EXPECT_TRUE(CreateDirectory(path).ok());
  return path;
}

TEST(WritableFile, SmallAndLargeAppendsKeepTheirOrder) {
  std::string path = JoinPath(FreshDirectory(), "f");
  StatusOr<std::unique_ptr<WritableFile>> file = WritableFile::Create(path, 16);
  ASSERT_TRUE(file.ok());
  std::string wanted;
  for (int size : {1, 5, 15, 16, 17, 100, 3, 0, 12, 2}) {
    std::string part(size, static_cast<char>('a' + size % 26));
    ASSERT_TRUE((*file)->Append(part).ok());
    wanted += part;
  }
  ASSERT_TRUE((*file)->Close().ok());
  ASSERT_TRUE((*file)->Close().ok());
  EXPECT_EQ((*file)->Append("z").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(*ReadWholeFile(path), wanted);
}

TEST(WritableFile, AppendGoesOnWhereAnotherEnded) {
  std::string path = JoinPath(FreshDirectory(), "f");
  ASSERT_TRUE(WriteWholeFile(path, "one ").ok());
  {
    StatusOr<std::unique_ptr<WritableFile>> file = WritableFile::OpenToAppend(path);
    ASSERT_TRUE((*file)->Append("two").ok());
    EXPECT_EQ(*ReadWholeFile(path), "one ");
    ASSERT_TRUE((*file)->Flush().ok());
    EXPECT_EQ(*ReadWholeFile(path), "one two");
  }
}

TEST(ReadableFile, ShortReadsAreDataLossWhereAllIsNeeded) {
  std::string path = JoinPath(FreshDirectory(), "f");
  ASSERT_TRUE(WriteWholeFile(path, "hello").ok());
  StatusOr<std::unique_ptr<ReadableFile>> file = ReadableFile::Open(path);
  char bytes[8];
  EXPECT_EQ(*(*file)->Read(3, 8, bytes), 2u);
  EXPECT_EQ(*(*file)->Read(30, 8, bytes), 0u);
  EXPECT_TRUE((*file)->ReadExactly(1, 4, bytes).ok());
  EXPECT_EQ((*file)->ReadExactly(1, 5, bytes).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(*(*file)->Size(), 5u);
}

TEST(File, ErrorsNameThePath) {
  std::string path = JoinPath(FreshDirectory(), "no/such");
  EXPECT_EQ(ReadWholeFile(path).status(), absl::NotFoundError(path + "; No such file or directory"));
  EXPECT_EQ(WriteWholeFile(path, "").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(WriteFileAtomically(path, "").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(CreateDirectory(path).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(RemoveFile(path).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadWholeFile(FreshDirectory()).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ReadWholeFile(std::string("a\0b", 3)).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(File, AtomicWritesLeaveOneFile) {
  std::string directory = FreshDirectory();
  std::string path = JoinPath(directory, "state");
  ASSERT_TRUE(WriteFileAtomically(path, "1").ok());
  ASSERT_TRUE(WriteFileAtomically(path, "22").ok());
  EXPECT_EQ(*ReadWholeFile(path), "22");
  EXPECT_EQ(ListDirectory(directory)->size(), 1u);
}

TEST(File, DirectoriesWithParents) {
  std::string directory = FreshDirectory();
  std::string deep = JoinPath(directory, "a/b/c");
  ASSERT_TRUE(CreateDirectories(deep).ok());
  ASSERT_TRUE(CreateDirectories(deep).ok());
  ASSERT_TRUE(CreateDirectory(deep).ok());
  EXPECT_TRUE(IsDirectory(deep));
  ASSERT_TRUE(WriteWholeFile(JoinPath(directory, "x"), "").ok());
  EXPECT_EQ(*ListDirectory(directory), (std::vector<std::string>{"a", "x"}));
  EXPECT_EQ(CreateDirectory(JoinPath(directory, "x")).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(RemoveEmptyDirectory(JoinPath(directory, "a")).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(RemoveEmptyDirectory(deep).ok());
}

TEST(File, FilesThatClaimToBeEmptyAreReadWhole) { EXPECT_FALSE(ReadWholeFile("/proc/self/stat")->empty()); }

TEST(Path, Parts) {
  EXPECT_EQ(DirectoryOf("a/b/c"), "a/b");
  EXPECT_EQ(DirectoryOf("c"), "");
  EXPECT_EQ(DirectoryOf("/c"), "/");
  EXPECT_EQ(BaseName("a/b/c"), "c");
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(JoinPath("a/", "b"), "a/b");
  EXPECT_EQ(JoinPath("a", "/b"), "/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
}

TEST(RandomUint64, DoesNotRepeat) { EXPECT_NE(RandomUint64(), RandomUint64()); }

}  // namespace
}  // namespace tandem
