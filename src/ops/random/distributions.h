// From random words to numbers of a distribution, bit by bit as TensorFlow does it (specification, section 7.9).
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "core/philox.h"
#include "tandem/tensor.h"

namespace tandem {

enum class Distribution { kUniform, kNormal, kTruncatedNormal };

// Fills a half, bfloat16, float or double tensor: uniform in [0, 1), or standard normal, or that within (-2, 2). Group g of 4
// elements (double: 2) uses block g; with kTruncatedNormal blocks from 256 g (128 g) on.
void FillRandom(Distribution distribution, Philox generator, Tensor* tensor);

// 23 bits of a word as a float in [0, 1); 52 bits of two words as a double.
inline float UniformFloat(uint32_t word) {
  const uint32_t bits = 127u << 23 | (word & 0x7fffffu);
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value - 1.0f;
}
inline double UniformDouble(uint32_t first, uint32_t second) {
  const uint64_t bits = uint64_t{1023} << 52 | static_cast<uint64_t>(first & 0xfffffu) << 32 | second;
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value - 1.0;
}

// Box and Muller: two independent standard normal values from two words (double: four).
std::array<float, 2> NormalFloats(uint32_t x0, uint32_t x1);
std::array<double, 2> NormalDoubles(uint32_t x0, uint32_t x1, uint32_t x2, uint32_t x3);

}  // namespace tandem
