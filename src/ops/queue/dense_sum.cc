// The sum of dense gradients: one tensor of the variable's shape.
#include <utility>

#include "ops/queue/accumulator.h"
#include "ops/queue/gradient_math.h"

namespace tandem {
namespace {

class DenseSum : public GradientSum {
 public:
  explicit DenseSum(const AccumulatorSpec& spec) : shape_(spec.shape) {}

  Status Check(const AccumulatedGradient& gradient) const override {
    const Shape& shape = gradient.values.shape();
    if (sum_.has_value() && sum_.shape() != shape) return InvalidArgument("Shape mismatch: expected ", sum_.shape().ToString(), ", got ", shape.ToString());
    if (!shape_.Allows(shape)) return InvalidArgument("Shape mismatch: expected ", shape_.ToString(), ", got ", shape.ToString());
    return OkStatus();
  }

  Status Add(AccumulatedGradient gradient) override {
    Tensor& values = gradient.values;
    if (!sum_.has_value()) {
      sum_ = values.is_unique() ? std::move(values) : values.Clone();
      return OkStatus();
    }
    return VisitNumber(values.dtype(), [&](auto number) {
      using T = decltype(number);
      AddNumbers(sum_.mutable_data<T>(), values.data<T>(), values.num_elements());
    });
  }

  StatusOr<AccumulatedGradient> Take(int64_t count, bool is_mean) override {
    AccumulatedGradient taken;
    taken.values = std::move(sum_);
    if (!is_mean || count == 1) return taken;
    RETURN_IF_ERROR(VisitNumber(taken.values.dtype(), [&](auto number) {
      using T = decltype(number);
      DivideNumbers(taken.values.mutable_data<T>(), taken.values.num_elements(), count);
    }));
    return taken;
  }

 private:
  const PartialShape shape_;
  Tensor sum_;  // a buffer of its own
};

}  // namespace

std::unique_ptr<GradientSum> MakeDenseSum(const AccumulatorSpec& spec) { return std::make_unique<DenseSum>(spec); }

}  // namespace tandem
