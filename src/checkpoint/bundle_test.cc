#include <gtest/gtest.h>

#include "checkpoint/bundle_merge.h"
#include "checkpoint/bundle_reader.h"
#include "checkpoint/bundle_writer.h"
#include "checkpoint/test_files.h"
#include "core/crc32c.h"

namespace tandem {
namespace {

using Named = std::vector<std::pair<std::string, Tensor>>;

Status Save(const std::string& prefix, const Named& tensors) {
  ASSIGN_OR_RETURN(std::unique_ptr<BundleWriter> writer, BundleWriter::Create(prefix));
  for (const auto& [name, tensor] : tensors) RETURN_IF_ERROR(writer->Add(name, tensor));
  return writer->Finish();
}

Status SaveParts(const std::string& prefix, const std::string& name, const std::vector<std::pair<std::string, Tensor>>& parts) {
  ASSIGN_OR_RETURN(std::unique_ptr<BundleWriter> writer, BundleWriter::Create(prefix));
  for (const auto& [text, tensor] : parts) {
    ASSIGN_OR_RETURN(ShapeAndSlice spec, ParseShapeAndSlice(text));
    RETURN_IF_ERROR(writer->AddSlice(name, spec.full, spec.slice, tensor));
  }
  return writer->Finish();
}

std::string Read(const std::string& prefix, const std::string& name, const std::string& slice = "") {
  StatusOr<std::unique_ptr<BundleReader>> reader = BundleReader::Open(prefix);
  if (!reader.ok()) return reader.status().ToString();
  StatusOr<Tensor> tensor = slice.empty() ? (*reader)->Read(name) : (*reader)->ReadSlice(name, *TensorSlice::Parse(slice));
  return tensor.ok() ? tensor->ToString(100) : tensor.status().ToString();
}

Tensor Count(const Shape& shape, int64_t from = 0) {
  Tensor tensor(kFloat, shape);
  for (float& value : tensor.mutable_values<float>()) value = static_cast<float>(from++);
  return tensor;
}

// The tensors of tests/golden/checkpoints/all_types, in the order in which they were saved.
Named AllTypes() {
  Named tensors;
  auto numbers = [&]<typename T>(const char* name, T) {
    Tensor tensor(DataTypeOf<T>::value, {2, 3});
    for (int i = 0; i < 6; ++i) tensor.mutable_data<T>()[i] = T(i + 1);
    tensors.emplace_back(name, tensor);
  };
  numbers("float", float());
  numbers("double", double());
  numbers("int32", int32_t());
  numbers("uint8", uint8_t());
  numbers("int16", int16_t());
  numbers("int8", int8_t());
  numbers("int64", int64_t());
  numbers("uint16", uint16_t());
  numbers("uint32", uint32_t());
  numbers("uint64", uint64_t());
  numbers("half", Half(0));
  numbers("bfloat16", BFloat16(0));
  tensors.emplace_back("complex64", Tensor::Vector<std::complex<float>>({{1, 2}, {3, -4}}));
  tensors.emplace_back("complex128", Tensor::Vector<std::complex<double>>({{1, 2}, {3, -4}}));
  tensors.emplace_back("bool", Tensor::Vector<bool>({true, false, true}));
  tensors.emplace_back("string", Tensor::Vector<std::string>({"ab", "", std::string(300, 'x'), std::string("\0\xff", 2)}));
  tensors.emplace_back("scalar", Tensor(0.5f));
  tensors.emplace_back("empty", Tensor(kFloat, {0, 3}));
  tensors.emplace_back("empty_string", Tensor(kString, {0}));
  return tensors;
}

TEST(BundleWriter, TheTinyBundleOfTheSpecification) {
  std::string prefix = FreshDirectory() + "/m";
  ASSERT_TRUE(Save(prefix, {{"names", Tensor::Vector<std::string>({"ab", "", "xyz"})}, {"w", Tensor::Vector<float>({1.5f, -2.0f})}}).ok());
  EXPECT_EQ(HexOf(prefix + ".data-00000-of-00001"), "0200031b428bca616278797a0000c03f000000c0");
  EXPECT_EQ(HexOf(prefix + ".index"),
            "00000608011a02080100050f6e616d657308071204120208"
            "03280c3510adc43f000111770801120412020802200c2808"
            "353d33c8f4000000000100000000f453fc2b000000000100"
            "000000c0f2a1b000010278003d0000000001000000007930"
            "06f442084f0e000000000000000000000000000000000000"
            "00000000000000000000000000000000000057fb808b2475"
            "47db");
}

TEST(BundleWriter, WritesTheSameBytesAsTensorFlow) {
  std::string prefix = FreshDirectory() + "/m";
  ASSERT_TRUE(Save(prefix, AllTypes()).ok());
  EXPECT_EQ(HexOf(prefix + ".data-00000-of-00001"), HexOf(GoldenCheckpoint("all_types.data-00000-of-00001")));
  EXPECT_EQ(HexOf(prefix + ".index"), HexOf(GoldenCheckpoint("all_types.index")));
}

TEST(BundleReader, ReadsWhatTensorFlowWrote) {
  for (const auto& [name, tensor] : AllTypes()) EXPECT_EQ(Read(GoldenCheckpoint("all_types"), name), tensor.ToString(100)) << name;
  EXPECT_EQ(Read(GoldenCheckpoint("sharded"), "a"), "float[2,2] 0 1 2 3");
  EXPECT_EQ(Read(GoldenCheckpoint("sharded"), "b"), "int64[] 7");
  EXPECT_EQ(Read(GoldenCheckpoint("sharded"), "emb"), Count({10, 2}).ToString(100));
  EXPECT_EQ(Read(GoldenCheckpoint("sharded"), "emb", "3,2:1,1"), "float[2,1] 7 9");
}

TEST(BundleWriter, ManyNamesNeedSeveralBlocks) {
  std::string prefix = FreshDirectory() + "/m";
  Named tensors;
  for (int i = 0; i < 5000; ++i) tensors.emplace_back(absl::StrCat(i * 7919 % 5000, std::string(60 + i % 7, 'n')), Tensor(i));
  ASSERT_TRUE(Save(prefix, tensors).ok());
  EXPECT_GT(*FileSize(prefix + ".index"), 262144u);
  StatusOr<std::unique_ptr<BundleReader>> reader = BundleReader::Open(prefix);
  ASSERT_TRUE(reader.ok()) << reader.status();
  for (const auto& [name, tensor] : tensors) ASSERT_EQ((*reader)->Read(name)->scalar<int32_t>(), tensor.scalar<int32_t>());
}

TEST(BundleWriter, NothingIsLeftOfAnUnfinishedOne) {
  std::string directory = FreshDirectory();
  {
    StatusOr<std::unique_ptr<BundleWriter>> writer = BundleWriter::Create(directory + "/m");
    ASSERT_TRUE((*writer)->Add("a", Tensor(1.0f)).ok());
    EXPECT_EQ((*writer)->Add("a", Tensor(1.0f)), InvalidArgument("Adding duplicate key: a"));
    EXPECT_EQ((*writer)->Finish(), InvalidArgument("Adding duplicate key: a"));
  }
  EXPECT_TRUE(ListDirectory(directory)->empty());
}

TEST(BundleWriter, MakesOneDirectoryLevel) {
  std::string directory = FreshDirectory();
  EXPECT_TRUE(Save(directory + "/x/m", {{"a", Tensor(1.0f)}}).ok());
  EXPECT_EQ(Save(directory + "/y/z/m", {}), NotFound(directory, "/y/z; No such file or directory"));
}

TEST(BundleWriter, ReplacesAnOlderOne) {
  std::string prefix = FreshDirectory() + "/m";
  ASSERT_TRUE(Save(prefix, {{"a", Tensor(1.0f)}, {"b", Tensor(2.0f)}}).ok());
  ASSERT_TRUE(Save(prefix, {{"a", Tensor(3.0f)}}).ok());
  EXPECT_EQ(Read(prefix, "a"), "float[] 3");
  EXPECT_EQ(Read(prefix, "b"), "NOT_FOUND: Key b not found in checkpoint");
}

TEST(BundleWriter, RefusesWhatCannotBeSaved) {
  std::string prefix = FreshDirectory() + "/m";
  EXPECT_EQ(Save(prefix, {{"r", Tensor(kResource, {})}}).code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(Save(prefix, {{"", Tensor(1)}}).code(), absl::StatusCode::kInvalidArgument);
}

TEST(BundleSlices, AssembledFromAnyParts) {
  std::string prefix = FreshDirectory() + "/m";
  ASSERT_TRUE(SaveParts(prefix, "emb", {{"4 2 0,2:0,2", Count({2, 2})}, {"4 2 2,2:-", Count({2, 2}, 4)}}).ok());
  EXPECT_EQ(Read(prefix, "emb"), "float[4,2] 0 1 2 3 4 5 6 7");
  EXPECT_EQ(Read(prefix, "emb", "2,2:-"), "float[2,2] 4 5 6 7");
  EXPECT_EQ(Read(prefix, "emb", "1,2:1,1"), "float[2,1] 3 5");
  ASSERT_TRUE(Save(prefix, {{"emb", Count({4, 2})}}).ok());
  EXPECT_EQ(Read(prefix, "emb", "1,2:1,1"), "float[2,1] 3 5");
}

TEST(BundleSlices, AWholeSliceIsAPlainTensor) {
  std::string prefix = FreshDirectory() + "/m", plain = prefix + "2";
  ASSERT_TRUE(SaveParts(prefix, "w", {{"4 2 0,4:-", Count({4, 2})}}).ok());
  ASSERT_TRUE(Save(plain, {{"w", Count({4, 2})}}).ok());
  EXPECT_EQ(HexOf(prefix + ".index"), HexOf(plain + ".index"));
}

TEST(BundleSlices, MissingAndOverlappingPartsAreErrors) {
  std::string prefix = FreshDirectory() + "/m";
  ASSERT_TRUE(SaveParts(prefix, "emb", {{"4 2 0,2:0,2", Count({2, 2})}}).ok());
  EXPECT_EQ(Read(prefix, "emb"), "INVALID_ARGUMENT: Does not have sufficient slices for partitioned tensor emb to restore in slice_spec: -:-");
  EXPECT_EQ(Read(prefix, "emb", "1,1:-"), "float[1,2] 2 3");
  ASSERT_TRUE(SaveParts(prefix, "emb", {{"4 2 0,3:-", Count({3, 2})}, {"4 2 2,2:-", Count({2, 2})}}).ok());
  EXPECT_EQ(Read(prefix, "emb").substr(0, 10), "DATA_LOSS:");
  EXPECT_EQ(SaveParts(prefix, "emb", {{"4 2 0,3:-", Count({3, 2})}, {"5 2 3,2:-", Count({2, 2})}}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(SaveParts(prefix, "emb", {{"4 2 0,3:-", Count({3, 2})}, {"4 2 0,3:-", Count({3, 2})}}).code(), absl::StatusCode::kInvalidArgument);
}

TEST(MergeBundles, GivesTheSameBytesAsTensorFlow) {
  std::string directory = FreshDirectory();
  std::string a = directory + "/parts_a/p", b = directory + "/parts_b/p", merged = directory + "/sharded";
  {
    StatusOr<std::unique_ptr<BundleWriter>> writer = BundleWriter::Create(a);
    ASSERT_TRUE((*writer)->Add("a", Count({2, 2})).ok());
    ASSERT_TRUE((*writer)->AddSlice("emb", {10, 2}, *TensorSlice::Parse("0,4:0,2"), Count({4, 2})).ok());
    ASSERT_TRUE((*writer)->Finish().ok());
    writer = BundleWriter::Create(b);
    ASSERT_TRUE((*writer)->AddSlice("emb", {10, 2}, *TensorSlice::Parse("4,6:0,2"), Count({6, 2}, 8)).ok());
    ASSERT_TRUE((*writer)->Add("b", Tensor(int64_t{7})).ok());
    ASSERT_TRUE((*writer)->Finish().ok());
  }
  ASSERT_TRUE(MergeBundles({a, b}, merged, true, false).ok());
  for (const char* file : {"sharded.index", "sharded.data-00000-of-00002", "sharded.data-00001-of-00002"}) {
    EXPECT_EQ(HexOf(directory + "/" + file), HexOf(GoldenCheckpoint(file)));
  }
  EXPECT_EQ(ListDirectory(directory)->size(), 3u) << "the parts' directories are gone";
}

TEST(MergeBundles, AFailureLeavesThePartsAlone) {
  std::string directory = FreshDirectory();
  ASSERT_TRUE(Save(directory + "/1/p", {{"a", Tensor(1.0f)}}).ok());
  ASSERT_TRUE(Save(directory + "/2/p", {{"a", Tensor(2.0f)}}).ok());
  EXPECT_EQ(MergeBundles({directory + "/1/p", directory + "/2/p"}, directory + "/m", true, false).code(), absl::StatusCode::kInvalidArgument);
  Status missing = MergeBundles({directory + "/1/p", directory + "/3/p"}, directory + "/m", true, false);
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(missing.message().find(directory + "/3/p"), absl::string_view::npos);
  EXPECT_EQ(Read(directory + "/1/p", "a"), "float[] 1");
  EXPECT_TRUE(MergeBundles({directory + "/1/p", directory + "/3/p"}, directory + "/m", true, true).ok());
  EXPECT_EQ(Read(directory + "/m", "a"), "float[] 1");
  EXPECT_EQ(MergeBundles({directory + "/3/p"}, directory + "/m2", true, true).code(), absl::StatusCode::kInvalidArgument);
}

TEST(MergeBundles, OfItselfKeepsIt) {
  std::string prefix = FreshDirectory() + "/m";
  ASSERT_TRUE(Save(prefix, {{"a", Tensor(1.0f)}}).ok());
  ASSERT_TRUE(MergeBundles({prefix}, prefix, true, false).ok());
  EXPECT_EQ(Read(prefix, "a"), "float[] 1");
}

TEST(BundleReader, SwapsTheBytesOfTheOtherByteOrder) {
  std::string prefix = FreshDirectory() + "/m";
  std::string data = absl::HexStringToBytes("3fc00000" "4000000040400000" "0102");
  ASSERT_TRUE(WriteWholeFile(prefix + ".data-00000-of-00001", data).ok());
  auto entry = [&](DataType dtype, const Shape& shape, size_t offset, size_t size) {
    return BundleEntry{dtype, shape, 0, static_cast<int64_t>(offset), static_cast<int64_t>(size), MaskCrc(Crc32c(data.substr(offset, size))), {}};
  };
  ASSERT_TRUE(WriteBundleIndex(prefix, {1, true}, {{"c", entry(kComplex64, {1}, 4, 8)}, {"f", entry(kFloat, {}, 0, 4)}, {"i", entry(kInt16, {1}, 12, 2)}}).ok());
  EXPECT_EQ(Read(prefix, "f"), "float[] 1.5");
  EXPECT_EQ(Read(prefix, "c"), "complex64[1] (2,3)");
  EXPECT_EQ(Read(prefix, "i"), "int16[1] 258");
}

// ---- damage ----

struct Damaged {
  std::string prefix = FreshDirectory() + "/m";
  std::string index, data;

  Damaged() {
    EXPECT_TRUE(Save(prefix, {{"u", Count({3})}, {"w", Count({8})}}).ok());
    index = Bytes(prefix + ".index");
    data = Bytes(prefix + ".data-00000-of-00001");
  }
  std::string ReadWith(const std::string& new_index, const std::string& new_data, const std::string& name = "w") {
    EXPECT_TRUE(WriteWholeFile(prefix + ".index", new_index).ok());
    EXPECT_TRUE(WriteWholeFile(prefix + ".data-00000-of-00001", new_data).ok());
    return Read(prefix, name);
  }
};

TEST(DamagedBundle, IsDataLossThatNamesTheFile) {
  Damaged d;
  EXPECT_EQ(d.ReadWith("", d.data), "DATA_LOSS: " + d.prefix + ".index: file is too short to be an sstable");
  EXPECT_EQ(d.ReadWith(d.index.substr(0, d.index.size() / 2), d.data), "DATA_LOSS: " + d.prefix + ".index: not an sstable (bad magic number)");
  EXPECT_EQ(d.ReadWith(d.index.substr(0, d.index.size() - 8) + "12345678", d.data), "DATA_LOSS: " + d.prefix + ".index: not an sstable (bad magic number)");
  EXPECT_EQ(d.ReadWith(d.index, d.data.substr(0, d.data.size() - 1)).substr(0, 11 + d.prefix.size()), "DATA_LOSS: " + d.prefix);
  std::string flipped = d.data;
  flipped[20] ^= 1;
  EXPECT_EQ(d.ReadWith(d.index, flipped).substr(0, 26 + d.prefix.size()), "DATA_LOSS: TensorBundle at " + d.prefix.substr(0, d.prefix.size() - 1));
  EXPECT_EQ(d.ReadWith(d.index, flipped, "u"), "float[3] 0 1 2") << "the other tensor is as good as before";
}

TEST(DamagedBundle, MissingFilesAreNotFound) {
  Damaged d;
  ASSERT_TRUE(RemoveFile(d.prefix + ".data-00000-of-00001").ok());
  EXPECT_EQ(Read(d.prefix, "w"), "NOT_FOUND: " + d.prefix + ".data-00000-of-00001; No such file or directory");
  ASSERT_TRUE(RemoveFile(d.prefix + ".index").ok());
  EXPECT_EQ(Read(d.prefix, "w"), "NOT_FOUND: " + d.prefix + ".index; No such file or directory");
}

TEST(DamagedBundle, EveryFlippedBitOfTheIndexIsNoticed) {
  Damaged d;
  for (size_t i = 0; i < d.index.size(); ++i) {
    // The footer's padding and the empty metaindex block, with its handle, carry nothing.
    if (i >= d.index.size() - 46 && i < d.index.size() - 8) continue;
    std::string flipped = d.index;
    flipped[i] ^= 0x10;
    std::string got = d.ReadWith(flipped, d.data);
    if (got == Count({8}).ToString(100)) continue;
    EXPECT_EQ(got.substr(0, 10), "DATA_LOSS:") << "byte " << i << ": " << got;
  }
}

TEST(DamagedBundle, EveryCutIsNoticed) {
  Damaged d;
  for (size_t size = 0; size < d.index.size(); ++size) EXPECT_EQ(d.ReadWith(d.index.substr(0, size), d.data).substr(0, 10), "DATA_LOSS:");
  for (size_t size = 0; size < d.data.size(); ++size) EXPECT_EQ(d.ReadWith(d.index, d.data.substr(0, size)).substr(0, 10), "DATA_LOSS:");
}

TEST(DamagedBundle, EntriesThatLieAreDataLoss) {
  std::string prefix = FreshDirectory() + "/m";
  ASSERT_TRUE(WriteWholeFile(prefix + ".data-00000-of-00001", std::string(32, 'x')).ok());
  auto read = [&](const BundleEntry& entry) {
    EXPECT_TRUE(WriteBundleIndex(prefix, {}, {{"w", entry}}).ok());
    return Read(prefix, "w").substr(0, 10);
  };
  EXPECT_EQ(read({kFloat, {int64_t{1} << 40}, 0, 0, int64_t{1} << 42}), "DATA_LOSS:");
  EXPECT_EQ(read({kFloat, {int64_t{1} << 62}, 0, 0, 8}), "DATA_LOSS:");
  EXPECT_EQ(read({kFloat, {2}, 0, 28, 8}), "DATA_LOSS:");
  EXPECT_EQ(read({kFloat, {2}, 1, 0, 8}), "DATA_LOSS:");
  EXPECT_EQ(read({kFloat, {3}, 0, 0, 8}), "DATA_LOSS:");
  EXPECT_EQ(read({kString, {40}, 0, 0, 32}), "DATA_LOSS:");
  EXPECT_EQ(read({kString, {2}, 0, 0, 32}), "DATA_LOSS:");
  EXPECT_EQ(read({kFloat, {2}, 0, -1, 8}), "DATA_LOSS:");
  EXPECT_EQ(read({kFloat, {4}, 0, 0, 0, 0, {*TensorSlice::Parse("0,2")}}), "DATA_LOSS:");
  EXPECT_EQ(read({kFloat, {2}, 0, 0, 0, 0, {*TensorSlice::Parse("0,5")}}), "DATA_LOSS:");
}

}  // namespace
}  // namespace tandem
