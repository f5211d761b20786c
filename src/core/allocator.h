// Memory for tensors. Freed blocks are kept and given out again: a warm step allocates nothing from the system, and touches
// no fresh pages (which cost ten times a reused one).
#pragma once

#include <cstddef>

namespace tandem {

constexpr size_t kTensorAlignment = 64;

// 64-byte aligned, at least `bytes` (also for 0). nullptr if there is no memory. Any thread.
void* AllocateBlock(size_t bytes);
// `bytes` as given to AllocateBlock. Any thread, not only the one that allocated.
void FreeBlock(void* block, size_t bytes);

// Gives kept blocks back to the system, as far as no thread holds them in its own cache.
void TrimBlocks();

struct AllocatorStats {
  size_t used_bytes;  // given out
  size_t kept_bytes;  // free, kept for later
};
AllocatorStats GetAllocatorStats();

}  // namespace tandem
