// CRC-32C (Castagnoli), as TensorFlow's files carry it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace tandem {

// The checksum of A followed by `data`, given the checksum of A. That of nothing is 0.
uint32_t ExtendCrc32c(uint32_t crc, const void* data, size_t size);
inline uint32_t Crc32c(absl::string_view data) { return ExtendCrc32c(0, data.data(), data.size()); }

// Files hold the checksum masked, since the checksum of bytes that contain their own checksum is a constant.
constexpr uint32_t kCrcMaskDelta = 0xa282ead8u;
constexpr uint32_t MaskCrc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + kCrcMaskDelta; }
constexpr uint32_t UnmaskCrc(uint32_t masked) {
  uint32_t rotated = masked - kCrcMaskDelta;
  return (rotated << 15) | (rotated >> 17);
}

namespace internal {
// Without processor instructions, for processors that lack them and to test the other one against.
uint32_t ExtendCrc32cPortable(uint32_t crc, const void* data, size_t size);
}  // namespace internal

}  // namespace tandem
