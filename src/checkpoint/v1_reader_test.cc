#include "checkpoint/v1_reader.h"

#include <gtest/gtest.h>

#include "checkpoint/test_files.h"
#include "checkpoint/v1_writer.h"

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

TEST(V1Writer, WritesTheSameBytesAsTensorFlow) {
  std::string directory = FreshDirectory();
  Tensor rows(kFloat, {10, 2});
  for (int i = 0; i < 20; ++i) rows.mutable_data<float>()[i] = static_cast<float>(i);
  V1Writer whole(directory + "/v1");
  std::map<std::string, Tensor> tensors;
  tensors["w"] = rows;
  tensors["n"] = Tensor(int64_t{5});
  tensors["s"] = Tensor::Vector<std::string>({"ab", ""});
  tensors["h"] = Tensor::Vector<Half>({Half(1), Half(2)});
  tensors["c"] = Tensor::Vector<std::complex<float>>({{1, 2}});
  tensors["flag"] = Tensor::Vector<bool>({true, false});
  for (const auto& [name, tensor] : tensors) ASSERT_TRUE(whole.Add(name, tensor.shape(), TensorSlice::Whole(tensor.shape().rank()), tensor).ok());
  ASSERT_TRUE(whole.Finish().ok());
  EXPECT_EQ(HexOf(directory + "/v1"), HexOf(GoldenCheckpoint("v1")));
  V1Writer part(directory + "/part");
  ASSERT_TRUE(part.Add("emb", {10, 2}, *TensorSlice::Parse("4,6:0,2"), rows.Rows(4, 10)).ok());
  EXPECT_EQ(part.Add("emb", {10, 2}, *TensorSlice::Parse("4,6:0,2"), rows.Rows(4, 10)).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(part.Finish().ok());
  EXPECT_EQ(HexOf(directory + "/part"), HexOf(GoldenCheckpoint("v1_sharded-00001-of-00002")));
}

TEST(V1Reader, OtherFilesAreRefused) {
  EXPECT_EQ(V1Reader::Open(GoldenCheckpoint("none")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(V1Reader::Open(GoldenCheckpoint("sharded.data-00000-of-00002")).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(V1Reader::Open(GoldenCheckpoint("")).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace tandem
