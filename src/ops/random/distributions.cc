#include "ops/random/distributions.h"

#include <algorithm>
#include <cmath>

namespace tandem {
namespace {

constexpr double kTwoPi = 2 * 3.14159265358979323846;
constexpr double kSmallestUniform = 1e-7;  // keeps the logarithm finite, for float and double alike

// Elements of one group, made from one block; `Value` is what is stored after conversion.
template <typename T>
struct UniformGroup {
  static constexpr int kSize = 4;
  static std::array<float, 4> Make(const Philox::Block& x) {
    if constexpr (std::is_same_v<T, Half>) {
      return {(x[0] & 0x3ff) / 1024.0f, (x[1] & 0x3ff) / 1024.0f, (x[2] & 0x3ff) / 1024.0f, (x[3] & 0x3ff) / 1024.0f};
    } else if constexpr (std::is_same_v<T, BFloat16>) {
      return {(x[0] & 0x7f) / 128.0f, (x[1] & 0x7f) / 128.0f, (x[2] & 0x7f) / 128.0f, (x[3] & 0x7f) / 128.0f};
    } else {
      return {UniformFloat(x[0]), UniformFloat(x[1]), UniformFloat(x[2]), UniformFloat(x[3])};
    }
  }
};
template <>
struct UniformGroup<double> {
  static constexpr int kSize = 2;
  static std::array<double, 2> Make(const Philox::Block& x) { return {UniformDouble(x[0], x[1]), UniformDouble(x[2], x[3])}; }
};

template <typename T>
struct NormalGroup {
  static constexpr int kSize = 4;
  static std::array<float, 4> Make(const Philox::Block& x) {
    const std::array<float, 2> a = NormalFloats(x[0], x[1]), b = NormalFloats(x[2], x[3]);
    return {a[0], a[1], b[0], b[1]};
  }
};
template <>
struct NormalGroup<double> {
  static constexpr int kSize = 2;
  static std::array<double, 2> Make(const Philox::Block& x) { return NormalDoubles(x[0], x[1], x[2], x[3]); }
};

template <typename Group, typename T>
void FillByBlocks(Philox generator, T* to, int64_t count) {
  int64_t i = 0;
  for (; i + Group::kSize <= count; i += Group::kSize) {
    const auto values = Group::Make(generator.Next());
    for (int k = 0; k < Group::kSize; ++k) to[i + k] = static_cast<T>(values[k]);
  }
  if (i == count) return;
  const auto values = Group::Make(generator.Next());
  for (int k = 0; i + k < count; ++k) to[i + k] = static_cast<T>(values[k]);
}

// Normal values outside (-2, 2) are drawn again, each group from its own part of the sequence.
template <typename T>
void FillTruncated(const Philox& generator, T* to, int64_t count) {
  constexpr int kGroup = std::is_same_v<T, double> ? 2 : 4;
  constexpr uint64_t kBlocksPerGroup = kGroup * 64;
  for (int64_t start = 0; start < count; start += kGroup) {
    Philox own = generator;
    own.Skip(static_cast<uint64_t>(start / kGroup) * kBlocksPerGroup);
    PhiloxWords words(own);
    const int64_t end = std::min(count, start + kGroup);
    for (int64_t i = start; i < end;) {
      auto draw = [&words] {
        const uint32_t x0 = words.Next(), x1 = words.Next();
        if constexpr (std::is_same_v<T, double>) {
          const uint32_t x2 = words.Next(), x3 = words.Next();
          return NormalDoubles(x0, x1, x2, x3);
        } else {
          return NormalFloats(x0, x1);
        }
      };
      for (auto value : draw()) {
        if (i < end && std::abs(value) < 2) to[i++] = static_cast<T>(value);
      }
    }
  }
}

template <typename T>
void Fill(Distribution distribution, const Philox& generator, Tensor* tensor) {
  T* to = tensor->mutable_data<T>();
  const int64_t count = tensor->num_elements();
  switch (distribution) {
    case Distribution::kUniform:
      return FillByBlocks<UniformGroup<T>>(generator, to, count);
    case Distribution::kNormal:
      return FillByBlocks<NormalGroup<T>>(generator, to, count);
    case Distribution::kTruncatedNormal:
      return FillTruncated<T>(generator, to, count);
  }
}

}  // namespace

std::array<float, 2> NormalFloats(uint32_t x0, uint32_t x1) {
  const float u = std::max(UniformFloat(x0), static_cast<float>(kSmallestUniform));
  const float angle = static_cast<float>(kTwoPi * UniformFloat(x1));
  const float radius = std::sqrt(-2.0f * std::log(u));
  return {std::sin(angle) * radius, std::cos(angle) * radius};
}

std::array<double, 2> NormalDoubles(uint32_t x0, uint32_t x1, uint32_t x2, uint32_t x3) {
  const double u = std::max(UniformDouble(x0, x1), kSmallestUniform);
  const double angle = kTwoPi * UniformDouble(x2, x3);
  const double radius = std::sqrt(-2.0 * std::log(u));
  return {std::sin(angle) * radius, std::cos(angle) * radius};
}

void FillRandom(Distribution distribution, Philox generator, Tensor* tensor) {
  switch (tensor->dtype()) {
    case kHalf:
      return Fill<Half>(distribution, generator, tensor);
    case kBfloat16:
      return Fill<BFloat16>(distribution, generator, tensor);
    case kFloat:
      return Fill<float>(distribution, generator, tensor);
    default:
      return Fill<double>(distribution, generator, tensor);
  }
}

}  // namespace tandem
