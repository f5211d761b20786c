#include "core/clock.h"

#include <time.h>

namespace tandem {
namespace {

int64_t Read(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);  // cannot fail for these clocks
  return int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

}  // namespace

int64_t NowNanos() { return Read(CLOCK_REALTIME); }
int64_t MonotonicNanos() { return Read(CLOCK_MONOTONIC); }

}  // namespace tandem
