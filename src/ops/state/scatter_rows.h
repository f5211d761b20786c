// Combining one row of a variable with one row of updates: what all scatter ops do once they know the rows.
#pragma once

#include <cstdint>
#include <string>

#include "core/status.h"
#include "tandem/tensor.h"

namespace tandem {

enum class ScatterKind { kUpdate, kAdd, kSub, kMul, kDiv, kMin, kMax };

// From an op's name: "ResourceScatterNdAdd" is kAdd.
ScatterKind ScatterKindOf(const std::string& op);

class ScatterRows {
 public:
  // Rows of `width` elements in `to`; `updates` is rows of as many, or a scalar that stands for all of them.
  ScatterRows(ScatterKind kind, Tensor& to, const Tensor& updates, int64_t width);

  // Combines row `from` of the updates into the elements that start at `offset`, which must be in range. False for a whole number
  // divided by zero; the row is then changed in part.
  bool Combine(int64_t offset, int64_t from) const { return combine_(kind_, to_, offset, updates_, is_scalar_ ? 0 : from * width_, width_); }

  // Unimplemented if numbers of this type cannot be combined so.
  Status status() const;

  static Status DivisionByZero() { return InvalidArgument("Integer division by zero"); }

 private:
  using CombineFunction = bool (*)(ScatterKind kind, void* to, int64_t offset, const void* updates, int64_t from, int64_t width);

  const ScatterKind kind_;
  const DataType dtype_;
  const int64_t width_;
  const bool is_scalar_;
  void* const to_;
  Tensor spread_;  // one row of the scalar
  const void* updates_;
  CombineFunction combine_ = nullptr;
};

}  // namespace tandem
