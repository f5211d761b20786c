// How many threads a kernel that calls oneDNN may use.
#pragma once

namespace tandem {

// For all kernels of this process; at least 1. The number of processors until set (or OMP_NUM_THREADS). Any thread, any time.
void SetComputeThreads(int count);
int ComputeThreads();

// Call right before oneDNN, on the same thread. Small work stays on the calling thread: waking others costs more than it saves.
void UseComputeThreadsFor(double floating_point_operations);

}  // namespace tandem
