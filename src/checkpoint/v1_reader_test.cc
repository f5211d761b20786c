#include "checkpoint/v1_reader.h"

#include <gtest/gtest.h>

#include "checkpoint/test_files.h"

namespace tandem {
namespace {

std::string Read(const V1Reader& reader, const std::string& name, const std::string& slice = "") {
  StatusOr<Tensor> tensor = slice.empty() ? reader.Read(name) : reader.ReadSlice(name, *TensorSlice::Parse(slice));
  return tensor.ok() ? tensor->ToString(100) : tensor.status().ToString();
}

TEST(V1Reader, ReadsWhatTensorFlowWrote) {
  StatusOr<std::unique_ptr<V1Reader>> reader = V1Reader::Open(GoldenCheckpoint("v1"));
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(Read(**reader, "w", "1,2:-"), "float[2,2] 2 3 4 5");
  EXPECT_EQ(Read(**reader, "n"), "int64[] 5");
  EXPECT_EQ(Read(**reader, "s"), "string[2] \"ab\" \"\"");
  EXPECT_EQ(Read(**reader, "h"), "half[2] 1 2");
  EXPECT_EQ(Read(**reader, "c"), "complex64[1] (1,2)");
  EXPECT_EQ(Read(**reader, "flag"), "bool[2] true false");
  EXPECT_EQ(Read(**reader, "none").substr(0, 10), "NOT_FOUND:");
}

TEST(V1Reader, JoinsTheShards) {
  StatusOr<std::unique_ptr<V1Reader>> reader = V1Reader::Open(GoldenCheckpoint("v1_sharded-????" "?-of-00002"));
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(Read(**reader, "emb"), "float[10,2] 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19");
  EXPECT_EQ(Read(**reader, "emb", "3,2:1,1"), "float[2,1] 7 9");
  reader = V1Reader::Open(GoldenCheckpoint("v1_sharded-00000-of-00002"));
  EXPECT_EQ(Read(**reader, "emb").substr(0, 17), "INVALID_ARGUMENT:");
}

TEST(V1Reader, OtherFilesAreRefused) {
  EXPECT_EQ(V1Reader::Open(GoldenCheckpoint("none")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(V1Reader::Open(GoldenCheckpoint("sharded.data-00000-of-00002")).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(V1Reader::Open(GoldenCheckpoint("")).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace tandem
