#include "tandem/tensor.h"

#include <gtest/gtest.h>

#include "core/allocator.h"

namespace tandem {
namespace {

TEST(Tensor, CopiesShareTheBuffer) {
  Tensor a = Tensor::Vector<float>({1, 2, 3});
  EXPECT_TRUE(a.is_unique());
  Tensor b = a;
  EXPECT_FALSE(a.is_unique());
  EXPECT_TRUE(a.SharesBufferWith(b));
  b = Tensor();
  EXPECT_TRUE(a.is_unique());
  EXPECT_FALSE(a.Clone().SharesBufferWith(a));
}

TEST(Tensor, AbsurdSizesAreRefused) {
  EXPECT_EQ(Tensor::Allocate(kFloat, {int64_t{1} << 50}).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Tensor::Allocate(kComplex128, {int64_t{1} << 62, 2}).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Tensor::Allocate(kString, {int64_t{1} << 40}).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Tensor::Allocate(kFloat, {-1}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Tensor::Allocate(kVariant, {1}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Tensor::Allocate(MakeRef(kFloat), {1}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Tensor, ElementsAreAligned) {
  for (int64_t count : {0, 1, 7, 100000}) {
    Tensor tensor(kFloat, {count});
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.raw_data()) % kTensorAlignment, 0u);
  }
}

TEST(Tensor, StringsAndHandlesAreDestroyed) {
  size_t before = GetAllocatorStats().used_bytes;
  auto owner = std::make_shared<int>(1);
  {
    Tensor strings = Tensor::Vector<std::string>({std::string(1000, 'x'), ""});
    Tensor rows = strings.Rows(0, 1);
    strings = Tensor();
    EXPECT_EQ(rows.scalar<std::string>().size(), 1000u);
    ResourceHandle handle;
    handle.resource = std::shared_ptr<Resource>(owner, nullptr);
    Tensor handles = Tensor::Scalar(handle);
    handle = {};
    EXPECT_EQ(owner.use_count(), 2);
  }
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_EQ(GetAllocatorStats().used_bytes, before);
}

TEST(Tensor, RowsShareAndStartInside) {
  Tensor matrix = Tensor::Of<int32_t>({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(matrix.Rows(1, 3).ToString(10), "int32[2,2] 3 4 5 6");
  EXPECT_EQ(matrix.Rows(3, 3).ToString(), "int32[0,2]");
  EXPECT_EQ(matrix.Rows(1, 3).Clone().ToString(10), "int32[2,2] 3 4 5 6");
}

TEST(Tensor, ReshapeNeedsAsManyElements) {
  Tensor a = Tensor::Vector<float>({1, 2, 3, 4});
  EXPECT_EQ(a.Reshaped({2, 2})->ToString(4), "float[2,2] 1 2 3 4");
  EXPECT_EQ(a.Reshaped({3}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(a.Reshaped({-2, -2}).ok());
}

TEST(Tensor, PrintsItsFirstElements) {
  EXPECT_EQ(Tensor::Vector<float>({1, 2.5f, 3, 4}).ToString(), "float[4] 1 2.5 3...");
  EXPECT_EQ(Tensor(std::string("a\n")).ToString(), "string[] \"a\\n\"");
  EXPECT_EQ(Tensor(true).ToString(), "bool[] true");
  EXPECT_EQ(Tensor::Scalar<int8_t>(-3).ToString(), "int8[] -3");
  EXPECT_EQ(Tensor::Scalar(Half(0.5f)).ToString(), "half[] 0.5");
  EXPECT_EQ(Tensor().ToString(), "no value");
}

TEST(Tensor, BitcastKeepsTheBits) {
  Tensor one = Tensor::Vector<float>({1});
  EXPECT_EQ(one.BitcastTo(kInt32, {1}).data<int32_t>()[0], 0x3f800000);
}

TEST(Tensor, ZerosHasNoContent) {
  EXPECT_EQ(Tensor::Zeros(kDouble, {2}).ToString(), "double[2] 0 0");
  EXPECT_EQ(Tensor::Zeros(kString, {1}).ToString(), "string[1] \"\"");
}

TEST(TensorDeathTest, ReadingAnotherTypeAborts) { EXPECT_DEATH(Tensor(1.0f).data<int32_t>(), "float tensor was read as int32"); }

}  // namespace
}  // namespace tandem
