#include "core/crc32c.h"

#ifdef __SSE4_2__
#include <nmmintrin.h>
#endif

#include <array>
#include <cstring>

namespace tandem {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78u;  // reflected

using ByteTable = std::array<uint32_t, 256>;

// kSlices[k][b]: what byte b contributes when k more bytes follow it.
constexpr std::array<ByteTable, 8> MakeSlices() {
  std::array<ByteTable, 8> slices{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    slices[0][b] = crc;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (uint32_t b = 0; b < 256; ++b) slices[k][b] = (slices[k - 1][b] >> 8) ^ slices[0][slices[k - 1][b] & 0xff];
  }
  return slices;
}
constexpr std::array<ByteTable, 8> kSlices = MakeSlices();

uint64_t LoadU64(const unsigned char* p) {
  uint64_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

#ifdef __SSE4_2__

// The crc32 instruction takes three cycles but can start every cycle, so three lanes of the input are summed at once and joined:
// crc(A B) = shift(crc(A), |B|) ^ crc(B), where shift appends |B| zero bytes. The shift is linear over GF(2); for a fixed length it is
// four table look-ups, one per byte of the checksum.
constexpr size_t kLongLane = 8192;
constexpr size_t kShortLane = 256;

using ShiftTable = std::array<ByteTable, 4>;

ShiftTable MakeShift(size_t zero_bytes) {
  std::array<uint32_t, 32> column;  // the shift of each single bit
  for (int bit = 0; bit < 32; ++bit) {
    uint32_t crc = uint32_t{1} << bit;
    for (size_t i = 0; i < zero_bytes; ++i) crc = (crc >> 8) ^ kSlices[0][crc & 0xff];
    column[bit] = crc;
  }
  ShiftTable table;
  for (int byte = 0; byte < 4; ++byte) {
    for (uint32_t b = 0; b < 256; ++b) {
      uint32_t crc = 0;
      for (int bit = 0; bit < 8; ++bit) {
        if ((b >> bit & 1) != 0) crc ^= column[8 * byte + bit];
      }
      table[byte][b] = crc;
    }
  }
  return table;
}

uint32_t Shift(const ShiftTable& table, uint32_t crc) {
  return table[0][crc & 0xff] ^ table[1][(crc >> 8) & 0xff] ^ table[2][(crc >> 16) & 0xff] ^ table[3][crc >> 24];
}

const unsigned char* SumLanes(const unsigned char* p, const unsigned char* end, size_t lane, const ShiftTable& shift, uint64_t* crc) {
  while (static_cast<size_t>(end - p) >= 3 * lane) {
    uint64_t a = *crc, b = 0, c = 0;
    for (const unsigned char* stop = p + lane; p < stop; p += 8) {
      a = _mm_crc32_u64(a, LoadU64(p));
      b = _mm_crc32_u64(b, LoadU64(p + lane));
      c = _mm_crc32_u64(c, LoadU64(p + 2 * lane));
    }
    *crc = Shift(shift, Shift(shift, static_cast<uint32_t>(a)) ^ static_cast<uint32_t>(b)) ^ c;
    p += 2 * lane;
  }
  return p;
}

#endif

}  // namespace

#ifdef __SSE4_2__

uint32_t ExtendCrc32c(uint32_t crc, const void* data, size_t size) {
  static const ShiftTable long_shift = MakeShift(kLongLane);
  static const ShiftTable short_shift = MakeShift(kShortLane);
  const auto* p = static_cast<const unsigned char*>(data);
  const unsigned char* end = p + size;
  uint64_t sum = crc ^ 0xffffffffu;
  p = SumLanes(p, end, kLongLane, long_shift, &sum);
  p = SumLanes(p, end, kShortLane, short_shift, &sum);
  for (; end - p >= 8; p += 8) sum = _mm_crc32_u64(sum, LoadU64(p));
  for (; p < end; ++p) sum = _mm_crc32_u8(static_cast<uint32_t>(sum), *p);
  return static_cast<uint32_t>(sum) ^ 0xffffffffu;
}

#else

uint32_t ExtendCrc32c(uint32_t crc, const void* data, size_t size) { return internal::ExtendCrc32cPortable(crc, data, size); }

#endif

uint32_t internal::ExtendCrc32cPortable(uint32_t crc, const void* data, size_t size) {
  const auto* p = static_cast<const unsigned char*>(data);
  const unsigned char* end = p + size;
  uint32_t sum = crc ^ 0xffffffffu;
  for (; end - p >= 8; p += 8) {
    uint64_t word = LoadU64(p) ^ sum;
    sum = 0;
    for (int k = 0; k < 8; ++k) sum ^= kSlices[7 - k][(word >> (8 * k)) & 0xff];
  }
  for (; p < end; ++p) sum = (sum >> 8) ^ kSlices[0][(sum ^ *p) & 0xff];
  return sum ^ 0xffffffffu;
}

}  // namespace tandem
