#include "ops/state/scatter_rows.h"

#include <complex>
#include <cstring>
#include <type_traits>

#include "absl/strings/match.h"

namespace tandem {
namespace {

template <typename T>
constexpr bool kIsComplex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

template <typename T>
bool Divide(T* to, const T* by, int64_t width) {
  for (int64_t i = 0; i < width; ++i) {
    if constexpr (std::is_integral_v<T>) {
      if (by[i] == 0) return false;
      if constexpr (std::is_signed_v<T>) {
        if (by[i] == -1) {  // the lowest number divided by -1 traps
          to[i] = static_cast<T>(0u - static_cast<std::make_unsigned_t<T>>(to[i]));
          continue;
        }
      }
    }
    to[i] = static_cast<T>(to[i] / by[i]);
  }
  return true;
}

template <typename T>
bool CombineNumbers(ScatterKind kind, void* base, int64_t offset, const void* updates, int64_t from, int64_t width) {
  T* to = static_cast<T*>(base) + offset;
  const T* by = static_cast<const T*>(updates) + from;
  switch (kind) {
    case ScatterKind::kUpdate:
      std::memmove(static_cast<void*>(to), by, static_cast<size_t>(width) * sizeof(T));
      break;
    case ScatterKind::kAdd:
      for (int64_t i = 0; i < width; ++i) to[i] = static_cast<T>(to[i] + by[i]);
      break;
    case ScatterKind::kSub:
      for (int64_t i = 0; i < width; ++i) to[i] = static_cast<T>(to[i] - by[i]);
      break;
    case ScatterKind::kMul:
      for (int64_t i = 0; i < width; ++i) to[i] = static_cast<T>(to[i] * by[i]);
      break;
    case ScatterKind::kDiv:
      return Divide(to, by, width);
    case ScatterKind::kMin:
      if constexpr (!kIsComplex<T>) {
        for (int64_t i = 0; i < width; ++i) to[i] = by[i] < to[i] ? by[i] : to[i];
      }
      break;
    case ScatterKind::kMax:
      if constexpr (!kIsComplex<T>) {
        for (int64_t i = 0; i < width; ++i) to[i] = by[i] > to[i] ? by[i] : to[i];
      }
      break;
  }
  return true;
}

// Types that are only ever replaced.
template <typename T>
bool ReplaceValues(ScatterKind, void* base, int64_t offset, const void* updates, int64_t from, int64_t width) {
  T* to = static_cast<T*>(base) + offset;
  const T* by = static_cast<const T*>(updates) + from;
  for (int64_t i = 0; i < width; ++i) to[i] = by[i];
  return true;
}

using CombineFunction = bool (*)(ScatterKind, void*, int64_t, const void*, int64_t, int64_t);

CombineFunction CombinerOf(DataType dtype, ScatterKind kind) {
  const bool is_order = kind == ScatterKind::kMin || kind == ScatterKind::kMax;
  switch (dtype) {
    case kFloat: return CombineNumbers<float>;
    case kDouble: return CombineNumbers<double>;
    case kHalf: return CombineNumbers<Half>;
    case kBfloat16: return CombineNumbers<BFloat16>;
    case kInt8: return CombineNumbers<int8_t>;
    case kInt16: return CombineNumbers<int16_t>;
    case kInt32: return CombineNumbers<int32_t>;
    case kInt64: return CombineNumbers<int64_t>;
    case kUint8: return CombineNumbers<uint8_t>;
    case kUint16: return CombineNumbers<uint16_t>;
    case kUint32: return CombineNumbers<uint32_t>;
    case kUint64: return CombineNumbers<uint64_t>;
    case kComplex64: return is_order ? nullptr : CombineNumbers<std::complex<float>>;
    case kComplex128: return is_order ? nullptr : CombineNumbers<std::complex<double>>;
    default: break;
  }
  if (kind != ScatterKind::kUpdate) return nullptr;
  if (dtype == kString) return ReplaceValues<std::string>;
  switch (IsPlainData(dtype) ? DataTypeSize(dtype) : 0) {
    case 1: return ReplaceValues<uint8_t>;
    case 2: return ReplaceValues<uint16_t>;
    case 4: return ReplaceValues<uint32_t>;
    default: return nullptr;
  }
}

// A row of `width` times the one element of `scalar`.
template <typename T>
Tensor Spread(const Tensor& scalar, int64_t width) {
  Tensor row(scalar.dtype(), Shape{width});
  T* to = static_cast<T*>(row.mutable_raw_data());
  for (int64_t i = 0; i < width; ++i) to[i] = *static_cast<const T*>(scalar.raw_data());
  return row;
}

Tensor SpreadScalar(const Tensor& scalar, int64_t width) {
  if (scalar.dtype() == kString) return Spread<std::string>(scalar, width);
  switch (DataTypeSize(scalar.dtype())) {
    case 1: return Spread<uint8_t>(scalar, width);
    case 2: return Spread<uint16_t>(scalar, width);
    case 4: return Spread<uint32_t>(scalar, width);
    case 8: return Spread<uint64_t>(scalar, width);
    default: return Spread<std::complex<double>>(scalar, width);
  }
}

}  // namespace

ScatterKind ScatterKindOf(const std::string& op) {
  if (absl::EndsWith(op, "Add")) return ScatterKind::kAdd;
  if (absl::EndsWith(op, "Sub")) return ScatterKind::kSub;
  if (absl::EndsWith(op, "Mul")) return ScatterKind::kMul;
  if (absl::EndsWith(op, "Div")) return ScatterKind::kDiv;
  if (absl::EndsWith(op, "Min")) return ScatterKind::kMin;
  if (absl::EndsWith(op, "Max")) return ScatterKind::kMax;
  return ScatterKind::kUpdate;
}

ScatterRows::ScatterRows(ScatterKind kind, Tensor& to, const Tensor& updates, int64_t width)
    : kind_(kind),
      dtype_(to.dtype()),
      width_(width),
      is_scalar_(updates.shape().is_scalar()),
      to_(to.mutable_raw_data()),
      updates_(updates.raw_data()),
      combine_(CombinerOf(to.dtype(), kind)) {
  if (!is_scalar_ || width == 1 || combine_ == nullptr) return;
  spread_ = SpreadScalar(updates, width);
  updates_ = spread_.raw_data();
}

Status ScatterRows::status() const {
  if (combine_ != nullptr) return OkStatus();
  return Unimplemented("rows of type ", DataTypeName(dtype_), " cannot be combined in this way");
}

}  // namespace tandem
