#include "ops/math/low_precision.h"

#ifdef __F16C__
#include <immintrin.h>
#endif

namespace tandem {

void WidenToFloat(DataType low, const void* from, float* to, int64_t count) {
  if (low == kBfloat16) {
    const BFloat16* source = static_cast<const BFloat16*>(from);
    for (int64_t i = 0; i < count; ++i) to[i] = source[i];
    return;
  }
  const Half* source = static_cast<const Half*>(from);
  int64_t i = 0;
#ifdef __F16C__
  for (; i + 8 <= count; i += 8) {
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i))));
  }
#endif
  for (; i < count; ++i) to[i] = source[i];
}

void NarrowFromFloat(const float* from, DataType low, void* to, int64_t count) {
  if (low == kBfloat16) {
    BFloat16* target = static_cast<BFloat16*>(to);
    for (int64_t i = 0; i < count; ++i) target[i] = from[i];
    return;
  }
  Half* target = static_cast<Half*>(to);
  int64_t i = 0;
#ifdef __F16C__
  for (; i + 8 <= count; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(target + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  }
#endif
  for (; i < count; ++i) target[i] = from[i];
}

StatusOr<Tensor> Widened(const Tensor& low) {
  ASSIGN_OR_RETURN(Tensor wide, Tensor::Allocate(kFloat, low.shape()));
  WidenToFloat(low.dtype(), low.raw_data(), wide.mutable_data<float>(), low.num_elements());
  return wide;
}

void Narrow(const Tensor& wide, Tensor* low) { NarrowFromFloat(wide.data<float>(), low->dtype(), low->mutable_raw_data(), low->num_elements()); }

}  // namespace tandem
