#include "checkpoint/tensor_slice.h"

#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "proto/tensor.pb.h"

namespace tandem {
namespace {

std::string Key(const std::string& name, const std::string& slice) { return absl::BytesToHexString(EncodeSliceKey(name, *TensorSlice::Parse(slice))); }

TEST(SliceKey, GoldenVectors) {
  EXPECT_EQ(Key("emb", "0,5:-"), "00656d6200010102" "8085807f");
  EXPECT_EQ(Key("emb", "5,5:-"), "00656d6200010102" "8585807f");
  EXPECT_EQ(Key("big", "100,100000:-"), "0062696700010102" "c064e186a0807f");
  EXPECT_EQ(Key("emb", "0,5:0,4"), "00656d6200010102" "80858084");
  EXPECT_EQ(Key(std::string("a\0\xff", 3), "-"), "00" "6100ffff00" "0001" "0101" "807f");
}

TEST(SliceKey, SignedNumbersGoldenVectors) {
  auto encoded = [](int64_t start) {
    std::string key = EncodeSliceKey("", TensorSlice{{SliceExtent{start, 0}}});
    return absl::BytesToHexString(key.substr(5, key.size() - 6));
  };
  EXPECT_EQ(encoded(0), "80");
  EXPECT_EQ(encoded(1), "81");
  EXPECT_EQ(encoded(-1), "7f");
  EXPECT_EQ(encoded(63), "bf");
  EXPECT_EQ(encoded(64), "c040");
  EXPECT_EQ(encoded(100000), "e186a0");
  EXPECT_EQ(encoded(int64_t{1} << 31), "f880000000");
  EXPECT_EQ(encoded(-64), "40");
  EXPECT_EQ(encoded(-65), "3fbf");
  EXPECT_EQ(encoded(8191), "dfff");
  EXPECT_EQ(encoded(8192), "e02000");
  EXPECT_EQ(encoded(-8192), "2000");
  EXPECT_EQ(encoded(-8193), "1fdfff");
  EXPECT_EQ(encoded(std::numeric_limits<int64_t>::min()), "003f8000000000000000");
}

TEST(ShapeAndSlice, ReadsTensorFlowsTexts) {
  StatusOr<ShapeAndSlice> parsed = ParseShapeAndSlice("10 4 2,5:-");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->full.ToString(), "[10,4]");
  EXPECT_EQ(parsed->slice_shape.ToString(), "[5,4]");
  EXPECT_EQ(parsed->slice.ToString(), "2,5:-");
  EXPECT_FALSE(parsed->slice.Covers(parsed->full));
  EXPECT_TRUE(ParseShapeAndSlice("4 2 0,4:-")->slice.Covers({4, 2}));
}

TEST(ShapeAndSlice, WrongOnesGetTensorFlowsCodes) {
  auto code = [](const char* text) { return ParseShapeAndSlice(text).status().code(); };
  for (const char* text : {"", "4", "4 2", "4 2 0,0:-", "x 2 0,1:-", "4 2 a,b:-", "4  2 0,1:-", "4 2 -1,1:-", " ", "- ", "-4 2 0,1:-", "4 2 1,1,1:-",
                           "99999999999999999999 0,1"}) {
    EXPECT_EQ(code(text), absl::StatusCode::kInvalidArgument) << text;
  }
  for (const char* text : {"4 2 0,5:-", "4 2 0,1", "4 2 -", "4 2 0,1:-:-", "4 2 4,1:-", "4 2 2,9223372036854775807:-"}) {
    EXPECT_EQ(code(text), absl::StatusCode::kInternal) << text;
  }
  EXPECT_EQ(ParseShapeAndSlice("4 2 0,5:-").status().message(), "Extent in dimension 0 out of bounds: shape = [4,2], slice = 0,5:-");
}

TEST(TensorSlice, ProtoKeepsTheNotation) {
  for (const char* text : {"0,5:-", "-", "0,4:2,1:-"}) {
    tensorflow::TensorSliceProto proto;
    TensorSlice::Parse(text)->ToProto(&proto);
    EXPECT_EQ(TensorSlice::FromProto(proto)->ToString(), text);
  }
}

TEST(CopyOverlap, CutsAndFills) {
  Shape full{3, 2, 4};
  Tensor whole(kInt32, full);
  for (int i = 0; i < 24; ++i) whole.mutable_data<int32_t>()[i] = i;
  TensorSlice all = TensorSlice::Whole(3).Resolved(full);
  auto cut = [&](const char* text) {
    TensorSlice slice = TensorSlice::Parse(text)->Resolved(full);
    Tensor part(kInt32, *slice.ShapeWithin(full));
    EXPECT_EQ(CopyOverlap(whole, all, &part, slice), part.num_elements());
    return part;
  };
  EXPECT_EQ(cut("1,2:-:-").ToString(20), "int32[2,2,4] 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23");
  EXPECT_EQ(cut("0,2:1,1:1,2").ToString(20), "int32[2,1,2] 5 6 13 14");
  EXPECT_EQ(cut("-:-:3,1").ToString(20), "int32[3,2,1] 3 7 11 15 19 23");
  Tensor back = Tensor::Zeros(kInt32, full);
  int64_t copied = 0;
  for (const char* text : {"0,1:-:-", "1,2:0,1:-", "1,2:1,1:0,3", "1,2:1,1:3,1"}) {
    copied += CopyOverlap(cut(text), TensorSlice::Parse(text)->Resolved(full), &back, all);
  }
  EXPECT_EQ(copied, 24);
  EXPECT_EQ(back.ToString(24), whole.ToString(24));
}

TEST(CopyOverlap, NothingInCommon) {
  Tensor a = Tensor::Vector<float>({1, 2}), b = Tensor::Zeros(kFloat, {2});
  EXPECT_EQ(CopyOverlap(a, *TensorSlice::Parse("0,2"), &b, *TensorSlice::Parse("2,2")), 0);
}

}  // namespace
}  // namespace tandem
