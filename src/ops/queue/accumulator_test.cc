#include "ops/queue/accumulator.h"

#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using testing::HasSubstr;

class AccumulatorTest : public testing::Test {
 protected:
  struct Taken {
    std::optional<Status> status;
    AccumulatedGradient gradient;

    std::string Describe() const {
      if (!status.has_value()) return "waits";
      if (!status->ok()) return std::string(status->message());
      return (gradient.indices.has_value() ? gradient.indices.ToString(10) + "; " : "") + gradient.values.ToString(10);
    }
  };

  std::shared_ptr<Accumulator> Dense(bool is_mean = true) {
    return std::make_shared<Accumulator>("acc", AccumulatorSpec{.dtype = kFloat, .shape = {2}, .is_mean = is_mean});
  }
  std::shared_ptr<Accumulator> Sparse(bool is_mean = true) {
    return std::make_shared<Accumulator>("acc", AccumulatorSpec{.dtype = kFloat, .shape = {4, 2}, .is_mean = is_mean, .is_sparse = true});
  }
  AccumulatedGradient Gradient(std::vector<float> values) { return {Tensor(), Tensor(values)}; }
  AccumulatedGradient Rows(std::vector<int64_t> indices, std::vector<float> values) {
    const Shape shape{static_cast<int64_t>(indices.size()), 2};
    return {Tensor(indices), Tensor::Of<float>(shape, values)};
  }
  std::string Take(Accumulator& accumulator, int32_t count) {
    Taken taken;
    Take(accumulator, count, &step_, &taken);
    return taken.Describe();
  }
  void Take(Accumulator& accumulator, int32_t count, Cancellation* step, Taken* taken) {
    accumulator.Take(count, step, [taken](const Status& status, AccumulatedGradient gradient) {
      taken->status = status;
      taken->gradient = std::move(gradient);
    });
  }

  Cancellation step_;
};

TEST_F(AccumulatorTest, MeanOfWhatCame) {
  auto accumulator = Dense();
  ASSERT_TRUE(accumulator->Apply(0, Gradient({1, 2})).ok());
  ASSERT_TRUE(accumulator->Apply(0, Gradient({3, 4})).ok());
  EXPECT_EQ(accumulator->num_accumulated(), 2);
  EXPECT_EQ(Take(*accumulator, 1), "float[2] 2 3");
  EXPECT_EQ(accumulator->num_accumulated(), 0);
}

TEST_F(AccumulatorTest, SumDoesNotDivide) {
  auto accumulator = Dense(/*is_mean=*/false);
  ASSERT_TRUE(accumulator->Apply(0, Gradient({1, 2})).ok());
  ASSERT_TRUE(accumulator->Apply(0, Gradient({3, 4})).ok());
  EXPECT_EQ(Take(*accumulator, 2), "float[2] 4 6");
}

TEST_F(AccumulatorTest, GradientThatIsSharedIsNotChanged) {
  auto accumulator = Dense();
  const AccumulatedGradient gradient = Gradient({1, 2});
  ASSERT_TRUE(accumulator->Apply(0, gradient).ok());
  ASSERT_TRUE(accumulator->Apply(0, Gradient({3, 4})).ok());
  EXPECT_EQ(gradient.values.ToString(), "float[2] 1 2");
}

TEST_F(AccumulatorTest, TakeWaitsForEnough) {
  auto accumulator = Dense();
  Taken taken;
  Take(*accumulator, 2, &step_, &taken);
  ASSERT_TRUE(accumulator->Apply(0, Gradient({1, 2})).ok());
  EXPECT_EQ(taken.Describe(), "waits");
  ASSERT_TRUE(accumulator->Apply(0, Gradient({1, 2})).ok());
  EXPECT_EQ(taken.Describe(), "float[2] 1 2");
}

TEST_F(AccumulatorTest, LateGradientIsDropped) {
  auto accumulator = Dense();
  ASSERT_TRUE(accumulator->Apply(0, Gradient({1, 2})).ok());
  EXPECT_EQ(Take(*accumulator, 1), "float[2] 1 2");  // now at step 1
  ASSERT_TRUE(accumulator->Apply(0, Gradient({1, 2})).ok());
  EXPECT_EQ(accumulator->num_accumulated(), 0);
  accumulator->SetGlobalStep(5);
  ASSERT_TRUE(accumulator->Apply(4, Gradient({1, 2})).ok());
  EXPECT_EQ(accumulator->num_accumulated(), 0);
  ASSERT_TRUE(accumulator->Apply(5, Gradient({1, 2})).ok());
  EXPECT_EQ(accumulator->num_accumulated(), 1);
}

TEST_F(AccumulatorTest, RequestsAreServedInOrder) {
  auto accumulator = Dense();
  Taken first, second;
  Take(*accumulator, 2, &step_, &first);
  Take(*accumulator, 1, &step_, &second);
  ASSERT_TRUE(accumulator->Apply(0, Gradient({1, 2})).ok());
  EXPECT_EQ(second.Describe(), "waits");
  ASSERT_TRUE(accumulator->Apply(0, Gradient({1, 2})).ok());
  EXPECT_EQ(first.Describe(), "float[2] 1 2");
  EXPECT_EQ(second.Describe(), "waits");
}

TEST_F(AccumulatorTest, CancelledRequestLetsTheNextOneThrough) {
  auto accumulator = Dense();
  Cancellation other;
  Taken cancelled, next;
  Take(*accumulator, 2, &other, &cancelled);
  Take(*accumulator, 1, &step_, &next);
  ASSERT_TRUE(accumulator->Apply(0, Gradient({1, 2})).ok());
  other.Cancel(Aborted("the step ended"));
  EXPECT_EQ(cancelled.status->code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(cancelled.Describe(), "TakeGrad operation was cancelled");
  EXPECT_EQ(next.Describe(), "float[2] 1 2");
}

TEST_F(AccumulatorTest, WrongGradientsAreRefused) {
  auto accumulator = Dense();
  EXPECT_THAT(accumulator->Apply(0, Gradient({1, 2, 3})).message(), HasSubstr("Shape mismatch: expected [2], got [3]"));
  EXPECT_EQ(accumulator->Apply(0, {Tensor(), Tensor(int32_t{1})}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Take(*accumulator, 0), "Argument num_required must be positive, but was 0");
}

TEST_F(AccumulatorTest, SparseMeanCountsEachRow) {
  auto accumulator = Sparse();
  ASSERT_TRUE(accumulator->Apply(0, Rows({0, 2}, {1, 2, 3, 4})).ok());
  ASSERT_TRUE(accumulator->Apply(0, Rows({2, 3}, {1, 2, 3, 4})).ok());
  EXPECT_EQ(Take(*accumulator, 2), "int64[3] 0 2 3; float[3,2] 1 2 2 3 3 4");
}

TEST_F(AccumulatorTest, SparseRowsMayComeUnsortedAndTwice) {
  auto accumulator = Sparse(/*is_mean=*/false);
  ASSERT_TRUE(accumulator->Apply(0, Rows({3, 1, 3}, {1, 1, 2, 2, 3, 3})).ok());
  ASSERT_TRUE(accumulator->Apply(0, Rows({1, 0}, {5, 5, 6, 6})).ok());
  EXPECT_EQ(Take(*accumulator, 2), "int64[3] 0 1 3; float[3,2] 6 6 7 7 4 4");
}

TEST_F(AccumulatorTest, SparseWithoutRows) {
  auto accumulator = Sparse();
  ASSERT_TRUE(accumulator->Apply(0, Rows({}, {})).ok());
  ASSERT_TRUE(accumulator->Apply(0, Rows({1}, {1, 2})).ok());
  EXPECT_EQ(Take(*accumulator, 2), "int64[1] 1; float[1,2] 1 2");
}

TEST_F(AccumulatorTest, SparseIndexOutsideIsRefused) {
  auto accumulator = Sparse();
  EXPECT_THAT(accumulator->Apply(0, Rows({4}, {1, 2})).message(), HasSubstr("index is 4 exceeded 4"));
  EXPECT_EQ(accumulator->Apply(0, Rows({-1}, {1, 2})).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tandem
