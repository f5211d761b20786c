#include "core/allocator.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "core/mutex.h"

namespace tandem {
namespace {

// Sizes are rounded up to four classes per power of two, from 64 bytes to 64 MiB: at most a quarter is wasted.
constexpr int kMinShift = 6;
constexpr int kMaxShift = 26;
constexpr int kClassCount = (kMaxShift - kMinShift) * 4 + 1;
// A thread keeps small blocks for itself, so that it needs no lock.
constexpr size_t kThreadBlockLimit = 64 << 10;
constexpr size_t kThreadKeepBytes = 1 << 20;
// What all threads together may keep; more goes back to the system at once.
constexpr size_t kKeepBytes = size_t{48} << 20;

struct FreeNode {
  FreeNode* next;
};

int ClassOf(size_t bytes) {
  if (bytes <= (size_t{1} << kMinShift)) return 0;
  int shift = std::bit_width(bytes - 1) - 1;  // 2^shift < bytes <= 2^(shift + 1)
  size_t quarter = (bytes - 1 - (size_t{1} << shift)) >> (shift - 2);
  return (shift - kMinShift) * 4 + static_cast<int>(quarter) + 1;
}

size_t ClassBytes(int index) {
  if (index == 0) return size_t{1} << kMinShift;
  int shift = (index - 1) / 4 + kMinShift;
  size_t quarter = static_cast<size_t>((index - 1) % 4) + 1;
  return (size_t{1} << shift) + (quarter << (shift - 2));
}

std::atomic<size_t> used_bytes{0};
std::atomic<size_t> kept_bytes{0};

void* FromSystem(size_t bytes) {
  void* block = std::aligned_alloc(kTensorAlignment, (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment);
  // Large variables are read from end to end: huge pages save most of the page faults.
  if (block != nullptr && bytes >= (size_t{4} << 20)) {
    uintptr_t begin = (reinterpret_cast<uintptr_t>(block) + 4095) & ~uintptr_t{4095};
    uintptr_t end = (reinterpret_cast<uintptr_t>(block) + bytes) & ~uintptr_t{4095};
    // Only a hint: the block is as good without.
    (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  }
  return block;
}

class Central {
 public:
  void* Take(int index) {
    if (counts_[index].load(std::memory_order_relaxed) == 0) return nullptr;
    MutexLock lock(&mu_);
    FreeNode* node = lists_[index];
    if (node == nullptr) return nullptr;
    lists_[index] = node->next;
    counts_[index].fetch_sub(1, std::memory_order_relaxed);
    kept_bytes.fetch_sub(ClassBytes(index), std::memory_order_relaxed);
    return node;
  }

  void Give(int index, void* block) {
    size_t bytes = ClassBytes(index);
    if (kept_bytes.load(std::memory_order_relaxed) + bytes > kKeepBytes) {
      std::free(block);
      return;
    }
    kept_bytes.fetch_add(bytes, std::memory_order_relaxed);
    MutexLock lock(&mu_);
    auto* node = static_cast<FreeNode*>(block);
    node->next = lists_[index];
    lists_[index] = node;
    counts_[index].fetch_add(1, std::memory_order_relaxed);
  }

  void Trim() {
    for (int i = 0; i < kClassCount; ++i) {
      while (void* block = Take(i)) std::free(block);
    }
  }

 private:
  Mutex mu_;
  std::array<FreeNode*, kClassCount> lists_ ABSL_GUARDED_BY(mu_) = {};
  std::array<std::atomic<int>, kClassCount> counts_ = {};
};

Central& TheCentral() {
  static Central* central = new Central;  // outlives every thread's cache
  return *central;
}

struct ThreadCache {
  std::array<FreeNode*, kClassCount> lists = {};
  size_t bytes = 0;
  ~ThreadCache();
};

// Set once the cache of this thread is gone: tensors freed later go to the central lists.
thread_local bool is_cache_gone = false;
thread_local ThreadCache thread_cache;

ThreadCache::~ThreadCache() {
  is_cache_gone = true;
  for (int i = 0; i < kClassCount; ++i) {
    while (FreeNode* node = lists[i]) {
      lists[i] = node->next;
      TheCentral().Give(i, node);
    }
  }
}

}  // namespace

void* AllocateBlock(size_t bytes) {
  if (bytes > (size_t{1} << kMaxShift)) {
    void* block = FromSystem(bytes);
    if (block != nullptr) used_bytes.fetch_add(bytes, std::memory_order_relaxed);
    return block;
  }
  int index = ClassOf(bytes);
  size_t rounded = ClassBytes(index);
  used_bytes.fetch_add(rounded, std::memory_order_relaxed);
  if (rounded <= kThreadBlockLimit && !is_cache_gone) {
    if (FreeNode* node = thread_cache.lists[index]) {
      thread_cache.lists[index] = node->next;
      thread_cache.bytes -= rounded;
      return node;
    }
  }
  if (void* block = TheCentral().Take(index)) return block;
  void* block = FromSystem(rounded);
  if (block == nullptr) used_bytes.fetch_sub(rounded, std::memory_order_relaxed);
  return block;
}

void FreeBlock(void* block, size_t bytes) {
  if (block == nullptr) return;
  if (bytes > (size_t{1} << kMaxShift)) {
    used_bytes.fetch_sub(bytes, std::memory_order_relaxed);
    std::free(block);
    return;
  }
  int index = ClassOf(bytes);
  size_t rounded = ClassBytes(index);
  used_bytes.fetch_sub(rounded, std::memory_order_relaxed);
  if (rounded <= kThreadBlockLimit && !is_cache_gone && thread_cache.bytes + rounded <= kThreadKeepBytes) {
    auto* node = static_cast<FreeNode*>(block);
    node->next = thread_cache.lists[index];
    thread_cache.lists[index] = node;
    thread_cache.bytes += rounded;
    return;
  }
  TheCentral().Give(index, block);
}

void TrimBlocks() { TheCentral().Trim(); }

AllocatorStats GetAllocatorStats() {
  return {used_bytes.load(std::memory_order_relaxed), kept_bytes.load(std::memory_order_relaxed)};
}

}  // namespace tandem
