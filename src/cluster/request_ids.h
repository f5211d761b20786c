// Notices a request that comes twice, which a retry after a lost reply can cause.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "core/mutex.h"

namespace tandem {

// Remembers the last `capacity` ids. Thread-safe.
class RequestIds {
 public:
  explicit RequestIds(size_t capacity) : capacity_(capacity) {}

  // False if `id` was given before; 0 stands for no id and is always new.
  bool IsNew(int64_t id) {
    if (id == 0) return true;
    MutexLock lock(&mu_);
    if (!known_.insert(id).second) return false;
    if (ring_.size() < capacity_) {
      ring_.push_back(id);
    } else {
      known_.erase(ring_[next_]);
      ring_[next_] = id;
      next_ = (next_ + 1) % capacity_;
    }
    return true;
  }

 private:
  const size_t capacity_;
  Mutex mu_;
  absl::flat_hash_set<int64_t> known_ ABSL_GUARDED_BY(mu_);
  std::vector<int64_t> ring_ ABSL_GUARDED_BY(mu_);
  size_t next_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace tandem
