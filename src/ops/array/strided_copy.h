// The one loop behind slices, transposes, joins, tiles, pads and reversals. Elements are opaque: compiled per element size, not
// per type.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "absl/container/inlined_vector.h"
#include "core/status.h"
#include "tandem/tensor.h"

namespace tandem {

using Strides = absl::InlinedVector<int64_t, 6>;

// Of a row-major tensor, in elements.
Strides RowMajorStrides(const Shape& shape);

// Sets to[i · to_strides] = from[i · from_strides] for every index i with 0 <= i[k] < sizes[k]. Strides are in elements and may be
// negative or, for `from`, 0; `from_offset` and `to_offset` are the elements of index 0. `from` and `to` have the same type
// and do not overlap; the caller has checked that all elements lie inside.
void StridedCopy(absl::Span<const int64_t> sizes, const Tensor& from, int64_t from_offset, absl::Span<const int64_t> from_strides, Tensor* to,
                 int64_t to_offset, absl::Span<const int64_t> to_strides);

// All elements become zero, false or empty.
void SetToZero(Tensor* tensor);

// N bytes without a meaning. Of unsigned char, so that it may alias any type.
template <size_t N>
struct alignas(N) PlainElement {
  unsigned char bytes[N];
};

// Calls run.template operator()<E>() with E = PlainElement<size>, std::string or ResourceHandle, whichever holds `dtype`.
// Returns what it returns; Unimplemented for other types.
template <typename F>
Status WithElement(DataType dtype, F&& run) {
  if (dtype == kString) return run.template operator()<std::string>();
  if (dtype == kResource) return run.template operator()<ResourceHandle>();
  switch (IsPlainData(dtype) ? DataTypeSize(dtype) : 0) {
    case 1: return run.template operator()<PlainElement<1>>();
    case 2: return run.template operator()<PlainElement<2>>();
    case 4: return run.template operator()<PlainElement<4>>();
    case 8: return run.template operator()<PlainElement<8>>();
    case 16: return run.template operator()<PlainElement<16>>();
    default: return Unimplemented("elements of type ", DataTypeName(dtype), " cannot be moved");
  }
}

template <typename E>
void CopyElements(const E* from, int64_t count, E* to) {
  if constexpr (std::is_trivially_copyable_v<E>) {
    if (count > 0) std::memcpy(to, from, static_cast<size_t>(count) * sizeof(E));
  } else {
    std::copy_n(from, count, to);
  }
}

// The elements of a tensor as E, which holds its type.
template <typename E>
const E* ElementsOf(const Tensor& tensor) {
  return static_cast<const E*>(tensor.raw_data());
}
template <typename E>
E* MutableElementsOf(Tensor* tensor) {
  return static_cast<E*>(tensor->mutable_raw_data());
}

}  // namespace tandem
