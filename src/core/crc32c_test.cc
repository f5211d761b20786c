#include "core/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace tandem {
namespace {

TEST(Crc32c, AgreesWithTheStandard) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(MaskCrc(Crc32c("123456789")), 0xc78ab0e5u);
  EXPECT_EQ(MaskCrc(Crc32c("")), 0xa282ead8u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);  // RFC 3720, B.4
}

TEST(Crc32c, UnmaskReversesMask) {
  for (uint32_t crc : {0u, 1u, 0xffffffffu, 0xe3069283u}) EXPECT_EQ(UnmaskCrc(MaskCrc(crc)), crc);
}

TEST(Crc32c, LanesAgreeWithThePortableSum) {
  std::string data(100003, '\0');
  uint32_t state = 1;
  for (char& c : data) c = static_cast<char>((state = state * 1664525u + 1013904223u) >> 24);
  for (size_t size : {0, 1, 7, 8, 255, 767, 768, 769, 1536, 24575, 24576, 24577, 50000, 100000}) {
    for (size_t offset : {0, 1, 3}) {
      ASSERT_EQ(ExtendCrc32c(0, data.data() + offset, size), internal::ExtendCrc32cPortable(0, data.data() + offset, size)) << size;
    }
  }
}

TEST(Crc32c, ExtendContinues) {
  std::string data(5000, 'x');
  EXPECT_EQ(ExtendCrc32c(Crc32c(data.substr(0, 1234)), data.data() + 1234, data.size() - 1234), Crc32c(data));
}

}  // namespace
}  // namespace tandem
