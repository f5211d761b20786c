// Shapes: of a tensor (all sizes known), and of a tensor that is not there yet (PartialShape).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace tandem {

constexpr int kMaxRank = 254;
constexpr int64_t kUnknownSize = -1;

class Shape {
 public:
  Shape() = default;                       // rank 0: a scalar
  Shape(std::initializer_list<int64_t> sizes) : sizes_(sizes) {}
  explicit Shape(absl::Span<const int64_t> sizes) : sizes_(sizes.begin(), sizes.end()) {}

  // InvalidArgument if a size is negative, the rank is above kMaxRank or the number of elements does not fit in int64.
  static absl::StatusOr<Shape> Checked(absl::Span<const int64_t> sizes);

  int rank() const { return static_cast<int>(sizes_.size()); }
  int64_t dim(int i) const { return sizes_[i]; }
  void set_dim(int i, int64_t size) { sizes_[i] = size; }
  void AddDim(int64_t size) { sizes_.push_back(size); }
  void InsertDim(int at, int64_t size) { sizes_.insert(sizes_.begin() + at, size); }
  void RemoveDim(int at) { sizes_.erase(sizes_.begin() + at); }
  absl::Span<const int64_t> dims() const { return sizes_; }
  int64_t num_elements() const {
    int64_t product = 1;
    for (int64_t size : sizes_) product *= size;
    return product;
  }
  bool is_scalar() const { return sizes_.empty(); }

  bool operator==(const Shape& other) const { return sizes_ == other.sizes_; }
  bool operator!=(const Shape& other) const { return !(*this == other); }
  std::string ToString() const;  // "[2,3]", "[]"

 private:
  absl::InlinedVector<int64_t, 4> sizes_;
};

// A shape of which some sizes, or even the rank, may be unknown.
class PartialShape {
 public:
  PartialShape() = default;  // unknown rank
  PartialShape(std::initializer_list<int64_t> sizes) : has_rank_(true), sizes_(sizes) {}  // kUnknownSize where unknown
  explicit PartialShape(absl::Span<const int64_t> sizes) : has_rank_(true), sizes_(sizes.begin(), sizes.end()) {}
  PartialShape(const Shape& shape) : has_rank_(true), sizes_(shape.dims().begin(), shape.dims().end()) {}  // NOLINT
  static PartialShape Scalar() { return PartialShape(absl::Span<const int64_t>()); }
  static PartialShape UnknownOfRank(int rank);

  bool has_rank() const { return has_rank_; }
  int rank() const { return static_cast<int>(sizes_.size()); }  // only if has_rank()
  int64_t dim(int i) const { return sizes_[i]; }
  void set_dim(int i, int64_t size) { sizes_[i] = size; }
  void AddDim(int64_t size) { sizes_.push_back(size); }
  absl::Span<const int64_t> dims() const { return sizes_; }
  bool is_fully_known() const;
  Shape ToShape() const;  // only if fully known
  int64_t num_elements() const;  // kUnknownSize unless fully known

  // Whether a tensor of that shape may stand here.
  bool Allows(const Shape& shape) const;
  bool IsCompatibleWith(const PartialShape& other) const;
  // What both say together. InvalidArgument if they contradict each other.
  static absl::StatusOr<PartialShape> Merge(const PartialShape& a, const PartialShape& b);

  bool operator==(const PartialShape& other) const { return has_rank_ == other.has_rank_ && sizes_ == other.sizes_; }
  bool operator!=(const PartialShape& other) const { return !(*this == other); }
  std::string ToString() const;  // "[?,784]", "<unknown>"

 private:
  bool has_rank_ = false;
  absl::InlinedVector<int64_t, 4> sizes_;
};

}  // namespace tandem
