#include "ops/math/gemm.h"

#include <dnnl.h>

#include <Eigen/Core>
#include <algorithm>
#include <complex>
#include <cstring>

#include "kernel/compute_threads.h"
#include "ops/math/low_precision.h"
#include "tandem/tensor.h"

namespace tandem {
namespace {

Status FloatGemm(const GemmShape& s, const float* a, const float* b, float* c) {
  UseComputeThreadsFor(2.0 * s.m * s.n * s.k);
  const dnnl_status_t status = dnnl_sgemm(s.transpose_a ? 'T' : 'N', s.transpose_b ? 'T' : 'N', s.m, s.n, s.k, 1.0f, a, s.transpose_a ? s.m : s.k, b,
                                          s.transpose_b ? s.k : s.n, 0.0f, c, s.n);
  if (status == dnnl_out_of_memory) return ResourceExhausted("no memory for the product of [", s.m, ",", s.k, "] and [", s.k, ",", s.n, "]");
  if (status != dnnl_success) return Internal("dnnl_sgemm failed with status ", static_cast<int>(status));
  return OkStatus();
}

// rows × columns to columns × rows, by tiles that fit in the cache.
template <typename T>
void Transpose(const T* from, int64_t rows, int64_t columns, T* to) {
  constexpr int64_t kTile = 16;
  for (int64_t r0 = 0; r0 < rows; r0 += kTile) {
    for (int64_t c0 = 0; c0 < columns; c0 += kTile) {
      for (int64_t r = r0; r < std::min(rows, r0 + kTile); ++r) {
        for (int64_t c = c0; c < std::min(columns, c0 + kTile); ++c) to[c * rows + r] = from[r * columns + c];
      }
    }
  }
}

// An operand as [rows, columns] and not conjugated: as it is, or a copy in `*copy`.
template <typename T>
StatusOr<const T*> Plain(const void* from, int64_t rows, int64_t columns, bool is_transposed, bool is_conjugated, Tensor* copy) {
  const T* values = static_cast<const T*>(from);
  if (!is_transposed && !is_conjugated) return values;
  ASSIGN_OR_RETURN(*copy, Tensor::Allocate(kUint8, Shape({static_cast<int64_t>(rows * columns * sizeof(T))})));
  T* to = static_cast<T*>(copy->mutable_raw_data());
  if (is_transposed) {
    Transpose(values, columns, rows, to);
  } else {
    std::copy_n(values, rows * columns, to);
  }
  if constexpr (Eigen::NumTraits<T>::IsComplex) {
    if (is_conjugated) {
      for (int64_t i = 0; i < rows * columns; ++i) to[i] = std::conj(to[i]);
    }
  }
  return to;
}

template <typename T>
void Multiply(const GemmShape& s, const T* a, const T* b, T* c) {
  if constexpr (std::is_integral_v<T>) {
    std::fill_n(c, s.m * s.n, T(0));
    constexpr int64_t kDepth = 64;  // rows of b that stay in the cache while a passes by
    for (int64_t p0 = 0; p0 < s.k; p0 += kDepth) {
      for (int64_t i = 0; i < s.m; ++i) {
        T* row = c + i * s.n;
        for (int64_t p = p0; p < std::min(s.k, p0 + kDepth); ++p) {
          const uint64_t factor = a[i * s.k + p];
          const T* from = b + p * s.n;
          for (int64_t j = 0; j < s.n; ++j) row[j] = static_cast<T>(row[j] + static_cast<T>(factor * from[j]));
        }
      }
    }
  } else {
    using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Eigen::Map<Matrix>(c, s.m, s.n).noalias() = Eigen::Map<const Matrix>(a, s.m, s.k) * Eigen::Map<const Matrix>(b, s.k, s.n);
  }
}

template <typename T>
Status PlainGemm(const GemmShape& s, const void* a, const void* b, void* c) {
  Tensor a_copy, b_copy;
  ASSIGN_OR_RETURN(const T* left, Plain<T>(a, s.m, s.k, s.transpose_a, s.conjugate_a, &a_copy));
  ASSIGN_OR_RETURN(const T* right, Plain<T>(b, s.k, s.n, s.transpose_b, s.conjugate_b, &b_copy));
  Multiply<T>(s, left, right, static_cast<T*>(c));
  return OkStatus();
}

Status LowPrecisionGemm(DataType type, const GemmShape& s, const void* a, const void* b, void* c) {
  ASSIGN_OR_RETURN(Tensor wide_a, Tensor::Allocate(kFloat, Shape({s.m, s.k})));
  ASSIGN_OR_RETURN(Tensor wide_b, Tensor::Allocate(kFloat, Shape({s.k, s.n})));
  ASSIGN_OR_RETURN(Tensor wide_c, Tensor::Allocate(kFloat, Shape({s.m, s.n})));
  WidenToFloat(type, a, wide_a.mutable_data<float>(), s.m * s.k);
  WidenToFloat(type, b, wide_b.mutable_data<float>(), s.k * s.n);
  RETURN_IF_ERROR(FloatGemm(s, wide_a.data<float>(), wide_b.data<float>(), wide_c.mutable_data<float>()));
  NarrowFromFloat(wide_c.data<float>(), type, c, s.m * s.n);
  return OkStatus();
}

}  // namespace

Status Gemm(DataType type, const GemmShape& shape, const void* a, const void* b, void* c) {
  if (shape.m == 0 || shape.n == 0) return OkStatus();
  if (shape.k == 0) {
    std::memset(c, 0, shape.m * shape.n * DataTypeSize(type));
    return OkStatus();
  }
  switch (type) {
    case kFloat:
      return FloatGemm(shape, static_cast<const float*>(a), static_cast<const float*>(b), static_cast<float*>(c));
    case kHalf:
    case kBfloat16:
      return LowPrecisionGemm(type, shape, a, b, c);
    case kDouble:
      return PlainGemm<double>(shape, a, b, c);
    case kComplex64:
      return PlainGemm<std::complex<float>>(shape, a, b, c);
    case kComplex128:
      return PlainGemm<std::complex<double>>(shape, a, b, c);
    case kInt8:
    case kUint8:
      return PlainGemm<uint8_t>(shape, a, b, c);
    case kInt16:
    case kUint16:
      return PlainGemm<uint16_t>(shape, a, b, c);
    case kInt32:
    case kUint32:
      return PlainGemm<uint32_t>(shape, a, b, c);
    case kInt64:
    case kUint64:
      return PlainGemm<uint64_t>(shape, a, b, c);
    default:
      return Unimplemented("matrix products of ", DataTypeName(type));
  }
}

}  // namespace tandem
