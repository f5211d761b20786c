#include "ops/math/broadcast.h"

#include <gtest/gtest.h>

#include "absl/strings/str_join.h"

namespace tandem {
namespace {

std::string Describe(const BroadcastPlan& plan, int operands) {
  std::string text = absl::StrCat(plan.output.ToString(), " loops ", absl::StrJoin(plan.sizes, "x"));
  for (int k = 0; k < operands; ++k) absl::StrAppend(&text, " by ", absl::StrJoin(plan.strides[k], ","));
  return text;
}

std::string Plan(const Shape& x, const Shape& y) {
  StatusOr<BroadcastPlan> plan = PlanBroadcast({&x, &y});
  return plan.ok() ? Describe(*plan, 2) : std::string(plan.status().message());
}

TEST(PlanBroadcast, EqualShapesAreOneLoop) { EXPECT_EQ(Plan({2, 3, 4}, {2, 3, 4}), "[2,3,4] loops 1x24 by 0,1 by 0,1"); }
TEST(PlanBroadcast, ScalarStandsStill) { EXPECT_EQ(Plan({2, 3}, {}), "[2,3] loops 1x6 by 0,1 by 0,0"); }
TEST(PlanBroadcast, RowRepeatsForEachRow) { EXPECT_EQ(Plan({5, 2, 3}, {2, 3}), "[5,2,3] loops 5x6 by 6,1 by 0,1"); }
TEST(PlanBroadcast, ColumnIsFixedWithinARow) { EXPECT_EQ(Plan({4, 3}, {4, 1}), "[4,3] loops 4x3 by 3,1 by 1,0"); }
TEST(PlanBroadcast, BothMayStretch) { EXPECT_EQ(Plan({3, 1, 2}, {4, 1}), "[3,4,2] loops 3x4x2 by 2,0,1 by 0,1,0"); }
TEST(PlanBroadcast, OnesAreNoLoops) { EXPECT_EQ(Plan({1, 5, 1}, {5, 1}), "[1,5,1] loops 1x5 by 0,1 by 0,1"); }
TEST(PlanBroadcast, SingleElementsMakeOneRound) { EXPECT_EQ(Plan({1, 1}, {1}), "[1,1] loops 1x1 by 0,1 by 0,1"); }
TEST(PlanBroadcast, EmptyMeetsOne) { EXPECT_EQ(Plan({0, 3}, {1, 1}).substr(0, 5), "[0,3]"); }
TEST(PlanBroadcast, NamesShapesThatDoNotFit) { EXPECT_EQ(Plan({2, 3}, {4}), "Incompatible shapes: [2,3] vs. [4]"); }
TEST(PlanBroadcast, RefusesMoreElementsThanCanBeCounted) {
  EXPECT_FALSE(PlanBroadcast({&static_cast<const Shape&>(Shape({int64_t{1} << 40, 1})), &static_cast<const Shape&>(Shape({1, int64_t{1} << 40}))}).ok());
}

// Elements of the operand that the blocks of a plan visit, in the order of the output.
std::vector<int64_t> Visited(const BroadcastPlan& plan, int operand) {
  std::vector<int64_t> visited;
  const int inner = plan.rank() - 1;
  ForEachBlock(plan, [&](const std::array<int64_t, kMaxBroadcastOperands>& offsets, int64_t output) {
    EXPECT_EQ(output, static_cast<int64_t>(visited.size()));
    for (int64_t i = 0; i < plan.sizes[inner - 1]; ++i) {
      for (int64_t j = 0; j < plan.sizes[inner]; ++j) {
        visited.push_back(offsets[operand] + i * plan.strides[operand][inner - 1] + j * plan.strides[operand][inner]);
      }
    }
  });
  return visited;
}

TEST(ForEachBlock, VisitsElementsInTheOrderOfTheOutput) {
  const Shape x({2, 1, 3, 1}), y({4, 1, 2});
  BroadcastPlan plan = *PlanBroadcast({&x, &y});
  std::vector<int64_t> expected;
  for (int a = 0; a < 2; ++a) {
    for (int b = 0; b < 4; ++b) {
      for (int c = 0; c < 3; ++c) {
        for (int d = 0; d < 2; ++d) expected.push_back(a * 3 + c);
      }
    }
  }
  EXPECT_EQ(Visited(plan, 0), expected);
}

TEST(ForEachBlock, NeverRunsForAnEmptyOutput) {
  const Shape x({0, 3}), y({1});
  EXPECT_TRUE(Visited(*PlanBroadcast({&x, &y}), 0).empty());
}

}  // namespace
}  // namespace tandem
