// Philox4x32-10 (Salmon et al. 2011): a random generator whose n-th block follows from key and counter alone, so that any part of a
// sequence can be made by itself.
#pragma once

#include <array>
#include <cstdint>

namespace tandem {

class Philox {
 public:
  using Block = std::array<uint32_t, 4>;

  // The key is `seed`; the upper half of the counter `stream`. Different streams never meet before 2^64 blocks.
  explicit Philox(uint64_t seed = 0, uint64_t stream = 0) : Philox(seed, 0, stream) {}
  Philox(uint64_t key, uint64_t counter_low, uint64_t counter_high)
      : key_{Low(key), High(key)}, counter_{Low(counter_low), High(counter_low), Low(counter_high), High(counter_high)} {}

  // The block at the counter, which moves on by one.
  Block Next() {
    Block block = counter_;
    std::array<uint32_t, 2> key = key_;
    for (int round = 0; round < 10; ++round) {
      const uint64_t a = uint64_t{0xD2511F53u} * block[0], b = uint64_t{0xCD9E8D57u} * block[2];
      block = {High(b) ^ block[1] ^ key[0], Low(b), High(a) ^ block[3] ^ key[1], Low(a)};
      key[0] += 0x9E3779B9u;
      key[1] += 0xBB67AE85u;
    }
    Skip(1);
    return block;
  }

  void Skip(uint64_t blocks) {
    const uint64_t low = Join(counter_[0], counter_[1]) + blocks;
    uint64_t high = Join(counter_[2], counter_[3]);
    if (low < blocks) ++high;
    counter_ = {Low(low), High(low), Low(high), High(high)};
  }

  uint64_t key() const { return Join(key_[0], key_[1]); }
  uint64_t counter_low() const { return Join(counter_[0], counter_[1]); }
  uint64_t counter_high() const { return Join(counter_[2], counter_[3]); }

 private:
  static uint32_t Low(uint64_t x) { return static_cast<uint32_t>(x); }
  static uint32_t High(uint64_t x) { return static_cast<uint32_t>(x >> 32); }
  static uint64_t Join(uint32_t low, uint32_t high) { return low | static_cast<uint64_t>(high) << 32; }

  std::array<uint32_t, 2> key_;
  Block counter_;
};

// The words of consecutive blocks one by one.
class PhiloxWords {
 public:
  explicit PhiloxWords(Philox generator) : generator_(generator) {}

  uint32_t Next() {
    if (used_ == 4) {
      block_ = generator_.Next();
      used_ = 0;
    }
    return block_[used_++];
  }

 private:
  Philox generator_;
  Philox::Block block_{};
  int used_ = 4;
};

}  // namespace tandem
