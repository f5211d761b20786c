#include "ops/random/seeded_generator.h"

#include <vector>

#include "core/random.h"

namespace tandem {

SeededGenerator::SeededGenerator(const Attrs& attrs) {
  uint64_t seed = attrs.GetInt("seed"), seed2 = attrs.GetInt("seed2");
  if (seed == 0 && seed2 == 0) {
    seed = RandomUint64();
    seed2 = RandomUint64();
  }
  generator_ = Philox(seed, seed2);
}

StatusOr<Shape> ShapeFromVector(const Tensor& sizes) {
  if (sizes.shape().rank() != 1) return InvalidArgument("shape must be a vector of {int32,int64}, got shape ", sizes.shape().ToString());
  std::vector<int64_t> dims;
  if (sizes.dtype() == kInt32) {
    dims.assign(sizes.values<int32_t>().begin(), sizes.values<int32_t>().end());
  } else if (sizes.dtype() == kInt64) {
    dims.assign(sizes.values<int64_t>().begin(), sizes.values<int64_t>().end());
  } else {
    return InvalidArgument("shape must be a vector of {int32,int64}, got ", DataTypeName(sizes.dtype()));
  }
  return Shape::Checked(dims);
}

}  // namespace tandem
