#include "kernel/compute_threads.h"

#include <algorithm>
#include <atomic>

// oneDNN runs on libgomp. Its two functions are declared here, because <omp.h> would ask for -fopenmp.
extern "C" {
void omp_set_num_threads(int count);
int omp_get_max_threads(void);
}

namespace tandem {
namespace {

constexpr double kSerialOperations = 2e7;  // about 0.2 ms of one core

std::atomic<int>& Threads() {
  static std::atomic<int> threads{std::max(1, omp_get_max_threads())};
  return threads;
}

}  // namespace

void SetComputeThreads(int count) { Threads() = std::max(1, count); }

int ComputeThreads() { return Threads(); }

void UseComputeThreadsFor(double floating_point_operations) {
  const int all = Threads();
  // The number is a property of the calling thread and cheap to set.
  omp_set_num_threads(floating_point_operations < kSerialOperations ? 1 : all);
}

}  // namespace tandem
