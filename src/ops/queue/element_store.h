// Where a queue keeps its elements, and which one it gives out next.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tandem/tensor.h"

namespace tandem {

// One element of a queue: a tensor per component.
using Tuple = std::vector<Tensor>;

// Not thread-safe.
class ElementStore {
 public:
  virtual ~ElementStore() = default;
  virtual int64_t size() const = 0;
  virtual void Put(Tuple element) = 0;
  // Only if size() > 0.
  virtual Tuple Take() = 0;
  // Takes back elements that were taken one after another last.
  virtual void Return(std::vector<Tuple> elements) = 0;
};

std::unique_ptr<ElementStore> MakeFifoStore();
// The next 32-bit word of a Philox generator modulo the size chooses. Seeds 0 and 0: random ones.
std::unique_ptr<ElementStore> MakeShuffleStore(int64_t seed, int64_t seed2);
// The smallest first component, an int64 scalar, comes first; among equal ones the oldest.
std::unique_ptr<ElementStore> MakePriorityStore();

}  // namespace tandem
