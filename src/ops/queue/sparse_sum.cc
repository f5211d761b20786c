// The sum of sparse gradients: rows by index. The first gradient is kept as it came; with the second, rows are sorted and merged.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "ops/queue/accumulator.h"
#include "ops/queue/gradient_math.h"

namespace tandem {
namespace {

// Rows with the number of gradients that had each.
struct Rows {
  std::vector<int64_t> indices;
  std::vector<int64_t> counts;
  Tensor values;
};

int64_t Width(const Tensor& values) { return values.shape().dim(0) == 0 ? 0 : values.num_elements() / values.shape().dim(0); }

// `rows` rows of the shape that those of `like` have.
StatusOr<Tensor> AllocateRows(const Tensor& like, int64_t rows) {
  Shape shape = like.shape();
  shape.set_dim(0, rows);
  return Tensor::Allocate(like.dtype(), shape);
}

// Sorted by index, rows of equal index added up. Such a row counts once: it came from one gradient.
Status SortRows(Rows* rows) {
  if (std::adjacent_find(rows->indices.begin(), rows->indices.end(), std::greater_equal<int64_t>()) == rows->indices.end()) return OkStatus();
  std::vector<int64_t> order(rows->indices.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return rows->indices[a] < rows->indices[b]; });
  int64_t distinct = 0;
  for (size_t i = 0; i < order.size(); ++i) distinct += i == 0 || rows->indices[order[i]] != rows->indices[order[i - 1]];

  Rows sorted;
  ASSIGN_OR_RETURN(sorted.values, AllocateRows(rows->values, distinct));
  const int64_t width = Width(rows->values);
  RETURN_IF_ERROR(VisitNumber(rows->values.dtype(), [&](auto number) {
    using T = decltype(number);
    const T* from = rows->values.template data<T>();
    T* to = sorted.values.template mutable_data<T>();
    for (int64_t row : order) {
      if (!sorted.indices.empty() && sorted.indices.back() == rows->indices[row]) {
        AddNumbers(to + (static_cast<int64_t>(sorted.indices.size()) - 1) * width, from + row * width, width);
        continue;
      }
      std::copy_n(from + row * width, width, to + static_cast<int64_t>(sorted.indices.size()) * width);
      sorted.indices.push_back(rows->indices[row]);
      sorted.counts.push_back(rows->counts[row]);
    }
  }));
  *rows = std::move(sorted);
  return OkStatus();
}

// Both sorted.
StatusOr<Rows> MergeRows(const Rows& a, const Rows& b) {
  Rows merged;
  std::set_union(a.indices.begin(), a.indices.end(), b.indices.begin(), b.indices.end(), std::back_inserter(merged.indices));
  const int64_t count = static_cast<int64_t>(merged.indices.size());
  merged.counts.assign(merged.indices.size(), 0);
  ASSIGN_OR_RETURN(merged.values, AllocateRows(a.values, count));
  const int64_t width = std::max(Width(a.values), Width(b.values));
  RETURN_IF_ERROR(VisitNumber(a.values.dtype(), [&](auto number) {
    using T = decltype(number);
    T* to = merged.values.template mutable_data<T>();
    size_t in_a = 0, in_b = 0;
    for (int64_t row = 0; row < count; ++row, to += width) {
      const bool from_a = in_a < a.indices.size() && a.indices[in_a] == merged.indices[row];
      const bool from_b = in_b < b.indices.size() && b.indices[in_b] == merged.indices[row];
      if (from_a) {
        std::copy_n(a.values.data<T>() + static_cast<int64_t>(in_a) * width, width, to);
        merged.counts[row] += a.counts[in_a++];
      }
      if (from_b) {
        const T* addend = b.values.data<T>() + static_cast<int64_t>(in_b) * width;
        from_a ? AddNumbers(to, addend, width) : static_cast<void>(std::copy_n(addend, width, to));
        merged.counts[row] += b.counts[in_b++];
      }
    }
  }));
  return merged;
}

class SparseSum : public GradientSum {
 public:
  explicit SparseSum(const AccumulatorSpec& spec) : shape_(spec.shape) {}

  Status Check(const AccumulatedGradient& gradient) const override {
    const Shape &indices = gradient.indices.shape(), &values = gradient.values.shape();
    if (gradient.indices.dtype() != kInt64) return InvalidArgument("indices must be of type int64, got ", DataTypeName(gradient.indices.dtype()));
    if (indices.rank() != 1) return InvalidArgument("Input indices should be vector but received shape: ", indices.ToString());
    if (values.rank() < 1) return InvalidArgument("Values cannot be 0-dimensional.");
    if (values.dim(0) != indices.dim(0)) return InvalidArgument("Expected ", indices.dim(0), " non-empty input values, got ", values.dim(0));
    RETURN_IF_ERROR(CheckRowShape(values, shape_));
    if (has_sum_) RETURN_IF_ERROR(CheckRowShape(values, PartialShape(sum_.values.shape())));
    const int64_t limit = shape_.has_rank() && shape_.rank() > 0 ? shape_.dim(0) : kUnknownSize;
    for (int64_t i = 0; i < indices.dim(0); ++i) {
      const int64_t index = gradient.indices.data<int64_t>()[i];
      if (index < 0) return InvalidArgument("Shape mismatch: index of slice ", i, " is ", index, ", which is negative");
      if (limit >= 0 && index >= limit) {
        return InvalidArgument("Shape mismatch: index of slice ", i, " exceeded limits of shape; index is ", index, " exceeded ", limit);
      }
    }
    return OkStatus();
  }

  // All dimensions but the first.
  static Status CheckRowShape(const Shape& values, const PartialShape& wanted) {
    if (!wanted.has_rank()) return OkStatus();
    if (wanted.rank() != values.rank()) return InvalidArgument("Shape mismatch: expected values of rank ", wanted.rank(), ", got ", values.ToString());
    for (int d = 1; d < wanted.rank(); ++d) {
      if (wanted.dim(d) == kUnknownSize || wanted.dim(d) == values.dim(d)) continue;
      return InvalidArgument("Shape mismatch: expected values dim ", d, " to be ", wanted.dim(d), ", got ", values.dim(d));
    }
    return OkStatus();
  }

  Status Add(AccumulatedGradient gradient) override {
    Rows rows;
    const absl::Span<const int64_t> indices = static_cast<const Tensor&>(gradient.indices).values<int64_t>();
    rows.indices.assign(indices.begin(), indices.end());
    rows.counts.assign(indices.size(), 1);
    rows.values = gradient.values.is_unique() ? std::move(gradient.values) : gradient.values.Clone();
    if (!has_sum_) {
      sum_ = std::move(rows);
      has_sum_ = true;
      return OkStatus();
    }
    RETURN_IF_ERROR(SortRows(&sum_));
    RETURN_IF_ERROR(SortRows(&rows));
    ASSIGN_OR_RETURN(sum_, MergeRows(sum_, rows));
    return OkStatus();
  }

  StatusOr<AccumulatedGradient> Take(int64_t, bool is_mean) override {
    Rows sum = std::move(sum_);
    has_sum_ = false;
    if (is_mean) {
      const int64_t width = Width(sum.values);
      RETURN_IF_ERROR(VisitNumber(sum.values.dtype(), [&](auto number) {
        using T = decltype(number);
        T* row = sum.values.template mutable_data<T>();
        for (size_t i = 0; i < sum.counts.size(); ++i, row += width) DivideNumbers(row, width, sum.counts[i]);
      }));
    }
    return AccumulatedGradient{Tensor::Vector<int64_t>(sum.indices), std::move(sum.values)};
  }

 private:
  const PartialShape shape_;
  bool has_sum_ = false;
  Rows sum_;
};

}  // namespace

std::unique_ptr<GradientSum> MakeSparseSum(const AccumulatorSpec& spec) { return std::make_unique<SparseSum>(spec); }

}  // namespace tandem
