// What time it is.
#pragma once

#include <cstdint>

namespace tandem {

// Since 1970, as stamped into events, traces and checkpoints. May jump when the clock is set.
int64_t NowNanos();
inline int64_t NowMicros() { return NowNanos() / 1000; }
inline double NowSeconds() { return static_cast<double>(NowMicros()) * 1e-6; }

// For durations: never goes back. The start is arbitrary.
int64_t MonotonicNanos();

}  // namespace tandem
