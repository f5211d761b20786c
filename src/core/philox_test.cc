#include "core/philox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tandem {
namespace {

using testing::ElementsAre;

TEST(Philox, FirstBlockOfKeyZero) { EXPECT_THAT(Philox().Next(), ElementsAre(0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u)); }

TEST(Philox, SeedAndStream) { EXPECT_THAT(Philox(87654321, 42).Next(), ElementsAre(0xb1f9e408u, 0xf656b54cu, 0x3765ccfdu, 0x0ee0bd75u)); }

TEST(Philox, SkipPassesOverBlocks) {
  Philox stepped(7, 9), skipped(7, 9);
  for (int i = 0; i < 5; ++i) stepped.Next();
  skipped.Skip(5);
  EXPECT_EQ(stepped.Next(), skipped.Next());
}

TEST(Philox, CounterCarriesIntoItsUpperHalf) {
  Philox generator(1, ~uint64_t{0}, 3);
  generator.Skip(1);
  EXPECT_EQ(generator.counter_low(), 0u);
  EXPECT_EQ(generator.counter_high(), 4u);
}

TEST(PhiloxWords, GivesTheWordsOfOneBlockAfterTheOther) {
  Philox blocks(3, 4);
  PhiloxWords words(blocks);
  for (int i = 0; i < 3; ++i) {
    for (uint32_t word : blocks.Next()) EXPECT_EQ(words.Next(), word);
  }
}

}  // namespace
}  // namespace tandem
