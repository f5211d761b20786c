#include "tandem/shape.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/status.h"

namespace tandem {
namespace {

std::string Join(absl::Span<const int64_t> sizes) {
  return absl::StrCat("[",
                      absl::StrJoin(sizes, ",",
                                    [](std::string* out, int64_t size) {
                                      if (size < 0) {
                                        out->push_back('?');
                                      } else {
                                        absl::StrAppend(out, size);
                                      }
                                    }),
                      "]");
}

}  // namespace

absl::StatusOr<Shape> Shape::Checked(absl::Span<const int64_t> sizes) {
  if (sizes.size() > static_cast<size_t>(kMaxRank)) {
    return InvalidArgument("a shape has ", sizes.size(), " dimensions, more than the ", kMaxRank, " that are possible");
  }
  int64_t product = 1;
  for (int64_t size : sizes) {
    if (size < 0) return InvalidArgument("Shape [", absl::StrJoin(sizes, ","), "] has negative dimensions");
    // In the order of num_elements(), which must not overflow on the way either.
    if (__builtin_mul_overflow(product, size, &product)) {
      return InvalidArgument("Shape ", Join(sizes), " is too large (more than 2**63 - 1 entries)");
    }
  }
  return Shape(sizes);
}

std::string Shape::ToString() const { return Join(dims()); }

PartialShape PartialShape::UnknownOfRank(int rank) {
  PartialShape made = Scalar();
  made.sizes_.assign(rank, kUnknownSize);
  return made;
}

bool PartialShape::is_fully_known() const {
  if (!has_rank_) return false;
  for (int64_t size : sizes_) {
    if (size < 0) return false;
  }
  return true;
}

Shape PartialShape::ToShape() const { return Shape(dims()); }

int64_t PartialShape::num_elements() const {
  if (!is_fully_known()) return kUnknownSize;
  int64_t product = 1;
  for (int64_t size : sizes_) {
    if (__builtin_mul_overflow(product, size, &product)) return kUnknownSize;
  }
  return product;
}

bool PartialShape::Allows(const Shape& shape) const {
  if (!has_rank_) return true;
  if (rank() != shape.rank()) return false;
  for (int i = 0; i < rank(); ++i) {
    if (dim(i) >= 0 && dim(i) != shape.dim(i)) return false;
  }
  return true;
}

bool PartialShape::IsCompatibleWith(const PartialShape& other) const {
  if (!has_rank_ || !other.has_rank_) return true;
  if (rank() != other.rank()) return false;
  for (int i = 0; i < rank(); ++i) {
    if (dim(i) >= 0 && other.dim(i) >= 0 && dim(i) != other.dim(i)) return false;
  }
  return true;
}

absl::StatusOr<PartialShape> PartialShape::Merge(const PartialShape& a, const PartialShape& b) {
  if (!a.has_rank_) return b;
  if (!b.has_rank_) return a;
  if (a.rank() != b.rank()) {
    return InvalidArgument("Incompatible ranks during merge: ", a.rank(), " vs. ", b.rank(), " (", a.ToString(), " and ", b.ToString(), ")");
  }
  PartialShape merged = a;
  for (int i = 0; i < a.rank(); ++i) {
    if (a.dim(i) < 0) {
      merged.set_dim(i, b.dim(i));
    } else if (b.dim(i) >= 0 && a.dim(i) != b.dim(i)) {
      return InvalidArgument("Incompatible shapes during merge: ", a.ToString(), " vs. ", b.ToString());
    }
  }
  return merged;
}

std::string PartialShape::ToString() const { return has_rank_ ? Join(dims()) : "<unknown>"; }

}  // namespace tandem
