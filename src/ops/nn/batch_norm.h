// What batch normalization and its gradient share.
#pragma once

#include <algorithm>
#include <vector>

#include "ops/nn/layout.h"

namespace tandem {

struct BatchNormAttrs {
  explicit BatchNormAttrs(const Attrs& attrs)
      : epsilon(attrs.GetFloat("epsilon")),
        is_training(attrs.GetBool("is_training")),
        average_factor(attrs.Has("exponential_avg_factor") ? attrs.GetFloat("exponential_avg_factor") : 1) {
    const std::string format = attrs.GetString("data_format");
    is_channels_first = format == "NCHW" || format == "NCDHW";
  }

  // The channels of x.
  StatusOr<int64_t> CheckImage(const Tensor& x) const {
    const int rank = x.shape().rank();
    if (rank != 4 && rank != 5) return InvalidArgument("input must be 4 or 5-dimensional, got shape ", x.shape().ToString());
    return x.shape().dim(is_channels_first ? 1 : rank - 1);
  }
  static Status CheckVector(const Tensor& vector, absl::string_view name, int64_t channels) {
    if (vector.dtype() != kFloat) return Unimplemented("batch normalization with ", name, " of type ", DataTypeName(vector.dtype()));
    if (vector.shape() == Shape{channels}) return OkStatus();
    return InvalidArgument(name, " must be a vector with one element for each of the ", channels, " channels of x, got shape ", vector.shape().ToString());
  }

  float epsilon;
  bool is_training;
  float average_factor;
  bool is_channels_first;
};

// Σ f(offset, channel) over the rows of a [rows, channels] matrix, for each channel. Blocks of rows are summed in float, then in double.
template <typename F>
std::vector<double> SumOverRows(int64_t rows, int64_t channels, F f) {
  constexpr int64_t kRowsPerBlock = 256;
  std::vector<double> totals(channels, 0);
  std::vector<float> block(channels);
  for (int64_t begin = 0; begin < rows; begin += kRowsPerBlock) {
    std::fill(block.begin(), block.end(), 0.0f);
    const int64_t end = std::min(rows, begin + kRowsPerBlock);
    for (int64_t row = begin; row < end; ++row) {
      float* sum = block.data();
#pragma GCC ivdep
      for (int64_t c = 0; c < channels; ++c) sum[c] += f(row * channels + c, c);
    }
    for (int64_t c = 0; c < channels; ++c) totals[c] += block[c];
  }
  return totals;
}

}  // namespace tandem
