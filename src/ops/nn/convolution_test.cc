#include "ops/nn/convolution.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

// Patches of 5·5·32 values at 60·60 places: more than one buffer full.
constexpr int64_t kSize = 64, kWindow = 5, kChannels = 32, kPlaces = kSize - kWindow + 1;

ConvGeometry LargeGeometry() {
  WindowSpec spec{.strides = {1, 1}, .dilations = {1, 1}};
  return MakeConvGeometry(spec, Shape{1, kSize, kSize, kChannels}, Shape{kWindow, kWindow, kChannels, 1}).value();
}

Tensor Filled(const Shape& shape, float value) {
  Tensor tensor(kFloat, shape);
  std::fill_n(tensor.mutable_data<float>(), tensor.num_elements(), value);
  return tensor;
}

TEST(Convolution, ForwardJoinsChunks) {
  Tensor input(kFloat, Shape{1, kSize, kSize, kChannels}), output(kFloat, Shape{1, kPlaces, kPlaces, 1});
  for (int64_t i = 0; i < input.num_elements(); ++i) input.mutable_data<float>()[i] = static_cast<float>(i / (kSize * kChannels));
  ASSERT_TRUE(ConvForward(LargeGeometry(), input, Filled(Shape{kWindow, kWindow, kChannels, 1}, 1), &output).ok());
  for (int64_t y = 0; y < kPlaces; ++y) {  // Σ over the window of its row numbers
    EXPECT_FLOAT_EQ(output.data<float>()[y * kPlaces + 7], kChannels * kWindow * (kWindow * y + 10.0f)) << y;
  }
}

TEST(Convolution, BackpropInputCountsWindowsOverAllChunks) {
  Tensor gradient(kFloat, Shape{1, kSize, kSize, kChannels});
  ASSERT_TRUE(ConvBackpropInput(LargeGeometry(), Filled(Shape{kWindow, kWindow, kChannels, 1}, 1), Filled(Shape{1, kPlaces, kPlaces, 1}, 1), &gradient).ok());
  for (int64_t y = 0; y < kSize; ++y) {
    const int64_t rows = std::min({y + 1, kWindow, kSize - y});
    EXPECT_FLOAT_EQ(gradient.data<float>()[(y * kSize + 20) * kChannels + 3], static_cast<float>(rows * kWindow)) << y;
  }
}

TEST(Convolution, BackpropFilterSumsChunks) {
  Tensor gradient(kFloat, Shape{kWindow, kWindow, kChannels, 1});
  ASSERT_TRUE(ConvBackpropFilter(LargeGeometry(), Filled(Shape{1, kSize, kSize, kChannels}, 2), Filled(Shape{1, kPlaces, kPlaces, 1}, 1), &gradient).ok());
  for (float value : gradient.values<float>()) EXPECT_FLOAT_EQ(value, 2.0f * kPlaces * kPlaces);
}

// A dilated filter is a larger one with zeros between its taps.
TEST(Convolution, BackpropOfDilatedFilterEqualsThatOfSpreadFilter) {
  WindowSpec dilated{.strides = {1, 1}, .dilations = {2, 3}}, plain{.strides = {1, 1}, .dilations = {1, 1}};
  const ConvGeometry a = MakeConvGeometry(dilated, Shape{1, 7, 8, 2}, Shape{2, 2, 2, 1}).value();
  const ConvGeometry b = MakeConvGeometry(plain, Shape{1, 7, 8, 2}, Shape{3, 4, 2, 1}).value();
  Tensor small = Tensor::Of<float>(Shape{2, 2, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8}), spread = Filled(Shape{3, 4, 2, 1}, 0);
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 2; ++x) {
      for (int c = 0; c < 2; ++c) spread.mutable_data<float>()[(y * 2 * 4 + x * 3) * 2 + c] = small.data<float>()[(y * 2 + x) * 2 + c];
    }
  }
  Tensor gradient(kFloat, Shape{1, 5, 5, 1}), got(kFloat, Shape{1, 7, 8, 2}), want(kFloat, Shape{1, 7, 8, 2});
  for (int i = 0; i < 25; ++i) gradient.mutable_data<float>()[i] = static_cast<float>(i % 7);
  ASSERT_TRUE(ConvBackpropInput(a, small, gradient, &got).ok());
  ASSERT_TRUE(ConvBackpropInput(b, spread, gradient, &want).ok());
  for (int64_t i = 0; i < got.num_elements(); ++i) EXPECT_FLOAT_EQ(got.data<float>()[i], want.data<float>()[i]) << i;
}

TEST(Convolution, HugeNumbersAreErrors) {
  WindowDim dim{.in = 5, .window = int64_t{1} << 40, .dilation = int64_t{1} << 31};
  EXPECT_EQ(FitWindow(Padding::kValid, &dim).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tandem
