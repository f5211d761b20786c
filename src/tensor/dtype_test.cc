#include "tandem/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tandem/tensor.h"

namespace tandem {
namespace {

TEST(DataType, NamesGoBothWays) {
  for (int i = 1; i <= 23; ++i) {
    DataType type = static_cast<DataType>(i);
    EXPECT_EQ(DataTypeFromName(DataTypeName(type)), type);
    EXPECT_EQ(DataTypeFromName(DataTypeName(MakeRef(type))), MakeRef(type));
  }
  EXPECT_EQ(DataTypeFromName("DT_BFLOAT16"), kBfloat16);
  EXPECT_EQ(DataTypeFromName("float32"), kInvalid);
  EXPECT_EQ(DataTypeName(MakeRef(kFloat)), "float_ref");
  EXPECT_EQ(DataTypeName(static_cast<DataType>(77)), "unknown dtype 77");
  EXPECT_EQ(DataTypeName(static_cast<DataType>(-3)), "unknown dtype -3");
}

TEST(DataType, UnheldTypesHaveNoSize) {
  EXPECT_EQ(DataTypeSize(kInvalid), 0u);
  EXPECT_EQ(DataTypeSize(kVariant), 0u);
  EXPECT_EQ(DataTypeSize(static_cast<DataType>(29)), 0u);
  EXPECT_EQ(DataTypeSize(MakeRef(kFloat)), 0u);
  EXPECT_EQ(DataTypeSize(kComplex128), 16u);
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(Half(1.0f).bits(), 0x3c00);
  EXPECT_EQ(Half(-2.0f).bits(), 0xc000);
  EXPECT_EQ(Half(1.0f + 0x1p-11f).bits(), 0x3c00);      // a tie, down to even
  EXPECT_EQ(Half(1.0f + 3 * 0x1p-11f).bits(), 0x3c02);  // a tie, up to even
  EXPECT_EQ(Half(1.0f + 0x1p-11f + 0x1p-20f).bits(), 0x3c01);
  EXPECT_EQ(Half(65504.0f).bits(), 0x7bff);
  EXPECT_EQ(Half(65519.0f).bits(), 0x7bff);
  EXPECT_EQ(Half(65520.0f).bits(), 0x7c00);
  EXPECT_EQ(Half(0x1p-24f).bits(), 0x0001);
  EXPECT_EQ(Half(0x1p-25f).bits(), 0x0000);
  EXPECT_EQ(Half(3 * 0x1p-25f).bits(), 0x0002);
  EXPECT_EQ(Half(-0.0f).bits(), 0x8000);
  EXPECT_TRUE(std::isnan(static_cast<float>(Half(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(Half, EveryNumberSurvivesAsFloat) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    float value = Half::FromBits(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(Half(value).bits(), bits);
  }
}

TEST(BFloat16, RoundsToNearestEven) {
  EXPECT_EQ(BFloat16(1.0f).bits(), 0x3f80);
  EXPECT_EQ(BFloat16(1.0f + 0x1p-8f).bits(), 0x3f80);
  EXPECT_EQ(BFloat16(1.0f + 3 * 0x1p-8f).bits(), 0x3f82);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits(), 0x7f80);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::numeric_limits<float>::quiet_NaN()))));
}

}  // namespace
}  // namespace tandem
