#include "summary/histogram.h"

#include <algorithm>
#include <bit>

#include "proto/summary.pb.h"

namespace tandem {
namespace {

std::vector<double> MakeLimits() {
  std::vector<double> positive;
  for (double limit = 1e-12; limit < 1e20; limit *= 1.1) positive.push_back(limit);
  positive.push_back(std::numeric_limits<double>::max());
  std::vector<double> limits;
  for (auto at = positive.rbegin(); at != positive.rend(); ++at) limits.push_back(-*at);
  limits.push_back(0);
  limits.insert(limits.end(), positive.begin(), positive.end());
  return limits;
}

// Values with the same sign, exponent and first three bits of the mantissa form a cell. A cell is about as wide as a bucket, so from the
// bucket of its smallest value it is a step or two to that of any other.
constexpr int kCellShift = 49;
constexpr size_t kCellCount = size_t{1} << (64 - kCellShift);

uint64_t CellOf(double value) { return std::bit_cast<uint64_t>(value) >> kCellShift; }

// The bucket of the smallest value of each cell.
std::vector<uint16_t> MakeFirstBuckets(const std::vector<double>& limits) {
  std::vector<uint16_t> first(kCellCount);
  for (uint64_t cell = 0; cell < kCellCount; ++cell) {
    bool is_negative = cell >> (63 - kCellShift) != 0;
    uint64_t bits = cell << kCellShift;
    if (is_negative) bits |= (uint64_t{1} << kCellShift) - 1;  // the larger the bits, the smaller the value
    double smallest = std::bit_cast<double>(bits);
    size_t bucket = static_cast<size_t>(std::upper_bound(limits.begin(), limits.end(), smallest) - limits.begin());
    first[cell] = static_cast<uint16_t>(std::min(bucket, limits.size() - 1));
  }
  return first;
}

}  // namespace

const std::vector<double>& Histogram::Limits() {
  static const std::vector<double> limits = MakeLimits();
  return limits;
}

Histogram::Histogram() : counts_(Limits().size()) {}

void Histogram::Add(double value) {
  static const std::vector<uint16_t> first_buckets = MakeFirstBuckets(Limits());
  const std::vector<double>& limits = Limits();
  size_t bucket = first_buckets[CellOf(value)];
  while (bucket + 1 < limits.size() && limits[bucket] <= value) ++bucket;
  ++counts_[bucket];
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  num_ += 1;
  sum_ += value;
  sum_squares_ += value * value;
}

void Histogram::ToProto(tensorflow::HistogramProto* proto) const {
  const std::vector<double>& limits = Limits();
  proto->Clear();
  proto->set_min(min_);
  proto->set_max(max_);
  proto->set_num(num_);
  proto->set_sum(sum_);
  proto->set_sum_squares(sum_squares_);
  for (size_t i = 0; i < counts_.size(); ++i) {
    bool is_inside_run = counts_[i] == 0 && i + 1 < counts_.size() && counts_[i + 1] == 0;
    if (is_inside_run) continue;
    proto->add_bucket_limit(limits[i]);
    proto->add_bucket(static_cast<double>(counts_[i]));
  }
}

}  // namespace tandem
