// Products of two matrices.
#pragma once

#include <cstdint>

#include "core/status.h"
#include "tandem/dtype.h"

namespace tandem {

// c[m, n] = op(a) · op(b), all row-major; a is [m, k], or [k, m] if transposed, and so on. Conjugation is for complex types.
struct GemmShape {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  bool conjugate_a = false, conjugate_b = false;
};

// Zeros if k is 0. Half and bfloat16 are computed in float, integers wrap around. c must not overlap a or b. Unimplemented for
// types that are no numbers, ResourceExhausted if there is no memory for working copies.
Status Gemm(DataType type, const GemmShape& shape, const void* a, const void* b, void* c);

}  // namespace tandem
