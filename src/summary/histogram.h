// Counts of values in buckets that grow by a tenth, as TensorBoard shows them.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace tensorflow {
class HistogramProto;
}  // namespace tensorflow

namespace tandem {

// One thread at a time.
class Histogram {
 public:
  Histogram();

  // `value` must be finite.
  void Add(double value);
  // Runs of empty buckets become one.
  void ToProto(tensorflow::HistogramProto* proto) const;

  // The right edges of the buckets, increasing: ±1e-12 · 1.1^k, 0, and the largest double.
  static const std::vector<double>& Limits();

 private:
  double min_ = std::numeric_limits<double>::max();
  double max_ = std::numeric_limits<double>::lowest();
  double num_ = 0, sum_ = 0, sum_squares_ = 0;
  std::vector<int64_t> counts_;  // by bucket
};

}  // namespace tandem
