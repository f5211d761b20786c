// What the random ops share: the generator that a kernel keeps from step to step, and the shape that they are asked for.
#pragma once

#include "core/mutex.h"
#include "core/philox.h"
#include "core/status.h"
#include "graph/attrs.h"
#include "tandem/tensor.h"

namespace tandem {

// Blocks that an op sets aside for each output element, however many it uses.
constexpr uint64_t kBlocksPerElement = 256;

// Lives in the kernel. Any thread.
class SeededGenerator {
 public:
  // Attrs seed and seed2; random numbers if both are 0.
  explicit SeededGenerator(const Attrs& attrs);

  // A generator for the next `blocks` blocks, which nobody else gets.
  Philox Reserve(uint64_t blocks) {
    MutexLock lock(&mu_);
    const Philox reserved = generator_;
    generator_.Skip(blocks);
    return reserved;
  }

 private:
  Mutex mu_;
  Philox generator_ ABSL_GUARDED_BY(mu_);
};

// The shape that an int32 or int64 vector names. InvalidArgument if it is no vector or no shape.
StatusOr<Shape> ShapeFromVector(const Tensor& sizes);

}  // namespace tandem
