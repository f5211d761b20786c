#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

struct Dim {
  int64_t size, from, to;
};
using Dims = absl::InlinedVector<Dim, 6>;

// Drops dimensions of size 1 and joins neighbours that are walked as one. Empty result: a single element.
Dims Simplified(absl::Span<const int64_t> sizes, absl::Span<const int64_t> from, absl::Span<const int64_t> to) {
  Dims dims;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) continue;
    if (!dims.empty() && dims.back().from == from[i] * sizes[i] && dims.back().to == to[i] * sizes[i]) {
      dims.back() = {dims.back().size * sizes[i], from[i], to[i]};
    } else {
      dims.push_back({sizes[i], from[i], to[i]});
    }
  }
  return dims;
}

template <typename E>
void CopyRow(const Dim& dim, const E* from, E* to) {
  if (dim.to == 1 && dim.from == 1) {
    CopyElements(from, dim.size, to);
  } else if (dim.to == 1 && dim.from == 0) {
    std::fill_n(to, dim.size, *from);
  } else if (dim.to == 1) {
    for (int64_t i = 0; i < dim.size; ++i) to[i] = from[i * dim.from];
  } else {
    for (int64_t i = 0; i < dim.size; ++i) to[i * dim.to] = from[i * dim.from];
  }
}

// Two dimensions of which `from` runs along one and `to` along the other, in tiles that stay in the cache.
template <typename E>
void CopyTransposed(const Dim& rows, const Dim& columns, const E* from, E* to) {
  constexpr int64_t kTile = 32;
  for (int64_t r = 0; r < rows.size; r += kTile) {
    int64_t row_end = std::min(rows.size, r + kTile);
    for (int64_t c = 0; c < columns.size; c += kTile) {
      int64_t column_end = std::min(columns.size, c + kTile);
      for (int64_t i = r; i < row_end; ++i) {
        for (int64_t j = c; j < column_end; ++j) to[i * rows.to + j * columns.to] = from[i * rows.from + j * columns.from];
      }
    }
  }
}

// Moves the dimension along which `from` is contiguous next to the last, if the last is where `to` is: a transpose.
bool MakeTransposed(Dims* dims) {
  if (dims->size() < 2 || dims->back().to != 1 || dims->back().from == 1 || dims->back().from == 0) return false;
  for (size_t i = 0; i + 1 < dims->size(); ++i) {
    if ((*dims)[i].from != 1) continue;
    std::rotate(dims->begin() + i, dims->begin() + i + 1, dims->end() - 1);
    return true;
  }
  return false;
}

template <typename E>
void Copy(Dims dims, const E* from, E* to) {
  if (dims.empty()) {
    *to = *from;
    return;
  }
  bool is_transposed = MakeTransposed(&dims);
  int inner = is_transposed ? 2 : 1;
  int outer = static_cast<int>(dims.size()) - inner;
  Strides index(outer, 0);
  while (true) {
    if (is_transposed) {
      CopyTransposed(dims[outer], dims[outer + 1], from, to);
    } else {
      CopyRow(dims[outer], from, to);
    }
    int k = outer - 1;
    for (; k >= 0; --k) {
      from += dims[k].from;
      to += dims[k].to;
      if (++index[k] < dims[k].size) break;
      from -= dims[k].from * dims[k].size;
      to -= dims[k].to * dims[k].size;
      index[k] = 0;
    }
    if (k < 0) return;
  }
}

}  // namespace

Strides RowMajorStrides(const Shape& shape) {
  Strides strides(shape.rank());
  int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = stride;
    // Beside a size of 0 the others may be too many to multiply; nobody walks such a tensor.
    stride = static_cast<int64_t>(static_cast<uint64_t>(stride) * static_cast<uint64_t>(shape.dim(i)));
  }
  return strides;
}

void StridedCopy(absl::Span<const int64_t> sizes, const Tensor& from, int64_t from_offset, absl::Span<const int64_t> from_strides, Tensor* to,
                 int64_t to_offset, absl::Span<const int64_t> to_strides) {
  for (int64_t size : sizes) {
    if (size <= 0) return;
  }
  Dims dims = Simplified(sizes, from_strides, to_strides);
  WithElement(from.dtype(), [&]<typename E>() {
    Copy<E>(dims, ElementsOf<E>(from) + from_offset, MutableElementsOf<E>(to) + to_offset);
    return OkStatus();
  }).IgnoreError();  // a tensor always holds one of the element kinds
}

void SetToZero(Tensor* tensor) {
  WithElement(tensor->dtype(), [&]<typename E>() {
    E* elements = MutableElementsOf<E>(tensor);
    if constexpr (std::is_trivially_copyable_v<E>) {
      if (tensor->num_elements() > 0) std::memset(elements, 0, tensor->byte_size());
    } else {
      std::fill_n(elements, tensor->num_elements(), E());
    }
    return OkStatus();
  }).IgnoreError();
}

}  // namespace tandem
