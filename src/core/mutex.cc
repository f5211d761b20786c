#include "core/mutex.h"

namespace tandem {
namespace {

// Debian builds Abseil so that each lock updates a graph of lock orders, which costs more than the lock, and aborts the process where
// two orders differ.
const bool is_deadlock_detection_off = [] {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  return true;
}();

}  // namespace
}  // namespace tandem
