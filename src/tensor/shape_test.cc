#include "tandem/shape.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(Shape, CheckedRefusesWhatCannotBe) {
  EXPECT_TRUE(Shape::Checked({2, 0, 3}).ok());
  EXPECT_EQ(Shape::Checked({2, -1}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Shape::Checked({int64_t{1} << 40, int64_t{1} << 40}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(Shape::Checked({int64_t{1} << 40, int64_t{1} << 40, 0}).ok());
  EXPECT_FALSE(Shape::Checked(std::vector<int64_t>(kMaxRank + 1, 1)).ok());
}

TEST(Shape, PrintsItsSizes) {
  EXPECT_EQ(Shape({2, 3}).ToString(), "[2,3]");
  EXPECT_EQ(Shape().ToString(), "[]");
  EXPECT_EQ(PartialShape({kUnknownSize, 784}).ToString(), "[?,784]");
  EXPECT_EQ(PartialShape().ToString(), "<unknown>");
}

TEST(PartialShape, MergeKeepsWhatEitherKnows) {
  EXPECT_EQ(PartialShape::Merge({kUnknownSize, 3}, {2, kUnknownSize})->ToString(), "[2,3]");
  EXPECT_EQ(PartialShape::Merge({}, {2})->ToString(), "[2]");
  EXPECT_FALSE(PartialShape::Merge({2}, {3}).ok());
  EXPECT_FALSE(PartialShape::Merge({2}, {2, 1}).ok());
}

TEST(PartialShape, AllowsShapesThatAgree) {
  PartialShape rows{kUnknownSize, 3};
  EXPECT_TRUE(rows.Allows({5, 3}));
  EXPECT_FALSE(rows.Allows({5, 4}));
  EXPECT_FALSE(rows.Allows({3}));
  EXPECT_TRUE(PartialShape().Allows({}));
  EXPECT_FALSE(PartialShape::Scalar().Allows({1}));
  EXPECT_TRUE(rows.IsCompatibleWith({4, kUnknownSize}));
  EXPECT_FALSE(rows.IsCompatibleWith({4, 2}));
}

TEST(PartialShape, ElementsAreUnknownUnlessAllSizesAre) {
  EXPECT_EQ(PartialShape({2, 3}).num_elements(), 6);
  EXPECT_EQ(PartialShape({2, kUnknownSize}).num_elements(), kUnknownSize);
  EXPECT_EQ(PartialShape::UnknownOfRank(2).ToString(), "[?,?]");
}

}  // namespace
}  // namespace tandem
