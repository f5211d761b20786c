#include "summary/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "proto/summary.pb.h"

namespace tandem {
namespace {

std::string Buckets(const std::vector<double>& values) {
  Histogram histogram;
  for (double value : values) histogram.Add(value);
  tensorflow::HistogramProto proto;
  histogram.ToProto(&proto);
  std::string text;
  for (int i = 0; i < proto.bucket_size(); ++i) absl::StrAppend(&text, "<", proto.bucket_limit(i), ":", proto.bucket(i), " ");
  return text;
}

TEST(Histogram, RunsOfEmptyBucketsBecomeOne) {
  EXPECT_EQ(Buckets({0, 0, 0}), "<0:0 <1e-12:3 <1.79769e+308:0 ");
  EXPECT_EQ(Buckets({}), "<1.79769e+308:0 ");
  EXPECT_EQ(Buckets({1e300}), "<9.92078e+19:0 <1.79769e+308:1 ");
  EXPECT_EQ(Buckets({std::numeric_limits<double>::max()}), "<9.92078e+19:0 <1.79769e+308:1 ");
}

TEST(Histogram, StatisticsAreOfTheValues) {
  Histogram histogram;
  for (double value : {1.0, 2.0, -4.0}) histogram.Add(value);
  tensorflow::HistogramProto proto;
  histogram.ToProto(&proto);
  EXPECT_EQ(absl::StrCat(proto.min(), " ", proto.max(), " ", proto.num(), " ", proto.sum(), " ", proto.sum_squares()), "-4 2 3 -1 21");
}

TEST(Histogram, EachValueIsBelowItsLimitAndNotBelowTheOneBefore) {
  const std::vector<double>& limits = Histogram::Limits();
  std::vector<double> values = {0.0, -0.0, 5e-324, -5e-324, std::numeric_limits<double>::lowest()};
  for (double limit : limits) {
    for (double value : {limit, std::nextafter(limit, 1e308), std::nextafter(limit, -1e308), limit * 1.05}) {
      if (std::isfinite(value) && value < limits.back()) values.push_back(value);
    }
  }
  for (double value : values) {
    Histogram histogram;
    histogram.Add(value);
    tensorflow::HistogramProto proto;
    histogram.ToProto(&proto);
    int at = static_cast<int>(std::find(proto.bucket().begin(), proto.bucket().end(), 1.0) - proto.bucket().begin());
    ASSERT_EQ(proto.bucket_limit(at), *std::upper_bound(limits.begin(), limits.end(), value)) << value;
  }
}

}  // namespace
}  // namespace tandem
