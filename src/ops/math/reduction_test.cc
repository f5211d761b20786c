#include <gtest/gtest.h>

#include <numeric>

#include "ops/math/reduction_op.h"

namespace tandem {
namespace {

Tensor SumOver(const Tensor& x, std::vector<int32_t> axes) {
  ReductionPlan plan = *PlanReduction(x.shape(), Tensor::Vector<int32_t>(axes), /*keep_dims=*/false);
  return *Reduce(x, plan, &RunReduceLoop<AddUp, float>);
}

TEST(Reduce, LongSumsKeepTheirDigits) {
  const int64_t count = 4'000'000;
  Tensor x(kFloat, Shape{count});
  for (float& value : x.mutable_values<float>()) value = 0.1f;
  EXPECT_NEAR(SumOver(x, {0}).scalar<float>() / (0.1f * static_cast<double>(count)), 1, 2e-6);
  x.set_shape(Shape{count / 4, 4});
  EXPECT_NEAR(SumOver(x, {0}).data<float>()[3] / (0.1f * static_cast<double>(count) / 4), 1, 2e-6);
}

// Integers small enough that their sums are exact, whatever the order.
TEST(Reduce, AgreesWithPlainLoopsForAllSizes) {
  for (int64_t rows : {1, 2, 7, 127, 128, 129, 300, 600}) {
    for (int64_t columns : {1, 2, 3, 31, 32, 33, 255, 256, 257, 513}) {
      Tensor x(kFloat, Shape{rows, columns});
      std::vector<float> by_row(rows, 0), by_column(columns, 0);
      for (int64_t i = 0; i < rows * columns; ++i) {
        const float value = static_cast<float>(i * 37 % 11);
        x.mutable_data<float>()[i] = value;
        by_row[i / columns] += value;
        by_column[i % columns] += value;
      }
      const Tensor rows_summed = SumOver(x, {1}), columns_summed = SumOver(x, {0}), all = SumOver(x, {0, 1});
      EXPECT_EQ(rows_summed.values<float>(), absl::MakeConstSpan(by_row)) << rows << "x" << columns;
      EXPECT_EQ(columns_summed.values<float>(), absl::MakeConstSpan(by_column)) << rows << "x" << columns;
      EXPECT_EQ(all.scalar<float>(), std::accumulate(by_row.begin(), by_row.end(), 0.0f)) << rows << "x" << columns;
    }
  }
}

TEST(Reduce, SharesTheTensorIfNothingIsFolded) {
  const Tensor x = Tensor::Vector<float>(std::vector<float>{1, 2});
  EXPECT_TRUE(SumOver(x, {}).SharesBufferWith(x));
}

}  // namespace
}  // namespace tandem
