// The loops of a reduction with functor F: `static T Identity()` and `T operator()(T folded, T next) const`, associative up to
// rounding. Sums of many floats are made of sums of few, which keeps the rounding error small.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ops/math/reduction.h"

namespace tandem {

constexpr int64_t kSerialRow = 512;     // elements that one pass over a row folds
constexpr int64_t kSerialRows = 128;    // rows that are folded into one before the next block starts
constexpr int64_t kColumnTile = 256;    // columns whose running results stay in the first-level cache
constexpr int64_t kNarrowColumns = 32;  // below: rows are folded several at a time, so that the inner loop is long enough

template <typename F, typename T>
T FoldRow(const T* x, int64_t count) {
  const F fold;
  constexpr int64_t kLanes = std::max<int64_t>(1, 128 / sizeof(T));
  if (count < kLanes) {
    T result = F::template Identity<T>();
    for (int64_t i = 0; i < count; ++i) result = fold(result, x[i]);
    return result;
  }
  if (count > kSerialRow) {
    const int64_t half = count / 2 / kLanes * kLanes;
    return fold(FoldRow<F, T>(x, half), FoldRow<F, T>(x + half, count - half));
  }
  T lanes[kLanes];
  for (int64_t j = 0; j < kLanes; ++j) lanes[j] = x[j];
  int64_t i = kLanes;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t j = 0; j < kLanes; ++j) lanes[j] = fold(lanes[j], x[i + j]);
  }
  for (int64_t j = 0; i < count; ++i, ++j) lanes[j] = fold(lanes[j], x[i]);
  for (int64_t width = kLanes / 2; width > 0; width /= 2) {
    for (int64_t j = 0; j < width; ++j) lanes[j] = fold(lanes[j], lanes[j + width]);
  }
  return lanes[0];
}

// `columns` ≤ kColumnTile columns of rows that lie `stride` apart.
template <typename F, typename T>
void FoldTile(const T* x, int64_t rows, int64_t stride, int64_t columns, T* out) {
  const F fold;
  std::fill_n(out, columns, F::template Identity<T>());
  T partial[kColumnTile];
  for (int64_t start = 0; start < rows; start += kSerialRows) {
    const int64_t end = std::min(rows, start + kSerialRows);
    std::copy_n(x + start * stride, columns, partial);
    for (int64_t row = start + 1; row < end; ++row) {
      const T* from = x + row * stride;
#pragma GCC ivdep
      for (int64_t j = 0; j < columns; ++j) partial[j] = fold(partial[j], from[j]);
    }
    for (int64_t j = 0; j < columns; ++j) out[j] = fold(out[j], partial[j]);
  }
}

template <typename F, typename T>
void FoldColumns(const T* x, int64_t rows, int64_t columns, T* out) {
  const int64_t rows_at_once = kColumnTile / columns;
  if (columns < kNarrowColumns && rows >= 2 * rows_at_once) {
    T wide[kColumnTile];
    const int64_t whole = rows / rows_at_once;
    FoldTile<F, T>(x, whole, rows_at_once * columns, rows_at_once * columns, wide);
    FoldTile<F, T>(wide, rows_at_once, columns, columns, out);
    const F fold;
    for (int64_t i = whole * rows_at_once * columns; i < rows * columns; ++i) {
      T& result = out[i % columns];
      result = fold(result, x[i]);
    }
    return;
  }
  for (int64_t start = 0; start < columns; start += kColumnTile) {
    FoldTile<F, T>(x + start, rows, columns, std::min(kColumnTile, columns - start), out + start);
  }
}

template <typename F, typename T>
void RunReduceLoop(const ReduceLoop& loop) {
  const T* x = static_cast<const T*>(loop.x);
  T* out = static_cast<T*>(loop.out);
  if (loop.inner == 0) return;
  if (loop.count == 0) {
    std::fill_n(out, loop.outer * loop.inner, F::template Identity<T>());
    return;
  }
  for (int64_t o = 0; o < loop.outer; ++o, x += loop.count * loop.inner, out += loop.inner) {
    if (loop.inner == 1) {
      *out = FoldRow<F, T>(x, loop.count);
    } else {
      FoldColumns<F, T>(x, loop.count, loop.inner, out);
    }
  }
}

}  // namespace tandem
