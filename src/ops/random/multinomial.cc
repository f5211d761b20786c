// Multinomial: for each row of unnormalised log-probabilities, classes drawn with replacement.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/random/distributions.h"
#include "ops/random/seeded_generator.h"

namespace tandem {
namespace {

// sums[i] = Σ exp(x - largest) over classes up to i; those of infinite logit do not count.
template <typename T>
void CumulativeWeights(const T* logits, std::vector<double>* sums) {
  double largest = static_cast<double>(std::numeric_limits<T>::lowest());
  for (size_t i = 0; i < sums->size(); ++i) {
    const double x = static_cast<double>(logits[i]);
    if (std::isfinite(x)) largest = std::max(largest, x);
  }
  double total = 0;
  for (size_t i = 0; i < sums->size(); ++i) {
    const double x = static_cast<double>(logits[i]);
    if (std::isfinite(x)) total += std::exp(x - largest);
    (*sums)[i] = total;
  }
}

struct Multinomial {
  explicit Multinomial(const Attrs& attrs) : generator(attrs) {}

  template <typename T>
  Status Run(KernelContext& ctx) {
    const Tensor &logits = ctx.input(0), &num_samples = ctx.input(1);
    if (logits.shape().rank() != 2) return InvalidArgument("logits should be a matrix, got shape ", logits.shape().ToString());
    if (!num_samples.shape().is_scalar()) return InvalidArgument("num_samples should be a scalar, got shape ", num_samples.shape().ToString());
    const int64_t samples = num_samples.scalar<int32_t>(), rows = logits.shape().dim(0), classes = logits.shape().dim(1);
    if (samples < 0) return InvalidArgument("num_samples should be nonnegative, got ", samples);
    if (classes <= 0) return InvalidArgument("num_classes should be positive, got ", classes);
    ASSIGN_OR_RETURN(const Shape shape, Shape::Checked({rows, samples}));
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, shape));
    if (output->num_elements() == 0) return OkStatus();
    if (ctx.output_type(0) == kInt32) return Draw<T, int32_t>(logits, samples, output);
    return Draw<T, int64_t>(logits, samples, output);
  }

  template <typename T, typename I>
  Status Draw(const Tensor& logits, int64_t samples, Tensor* output) {
    const int64_t rows = logits.shape().dim(0), classes = logits.shape().dim(1);
    const uint64_t rounded = (samples + 3) / 4 * 4;
    PhiloxWords words(generator.Reserve(rows * rounded * 2 * kBlocksPerElement));
    std::vector<double> sums(classes);
    I* to = output->mutable_data<I>();
    for (int64_t row = 0; row < rows; ++row) {
      CumulativeWeights(logits.data<T>() + row * classes, &sums);
      for (int64_t i = 0; i < samples; ++i) {
        const uint32_t first = words.Next(), second = words.Next();
        const double wanted = UniformDouble(first, second) * sums.back();
        *to++ = static_cast<I>(std::upper_bound(sums.begin(), sums.end(), wanted) - sums.begin());
      }
    }
    return OkStatus();
  }

  SeededGenerator generator;
};

Status MultinomialShape(ShapeContext& ctx) {
  const PartialShape& logits = ctx.input(0);
  if (logits.has_rank() && logits.rank() != 2) return InvalidArgument("Shape must be rank 2 but is rank ", logits.rank(), " for logits");
  const Tensor* samples = ctx.constant(1);
  int64_t columns = kUnknownSize;
  if (samples != nullptr && samples->shape().is_scalar() && samples->scalar<int32_t>() >= 0) columns = samples->scalar<int32_t>();
  ctx.set_output(0, PartialShape{logits.has_rank() ? logits.dim(0) : kUnknownSize, columns});
  return OkStatus();
}

DEFINE_OP("Multinomial")
    .Input("logits: T")
    .Input("num_samples: int32")
    .Output("output: output_dtype")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Attr("T: REAL")
    .Attr("output_dtype: IDX = int64")
    .Stateful()
    .Shape(MultinomialShape)
    .Cpu(ForTypes<Multinomial, Half, BFloat16, float, double>())
    .NoGradient();

}  // namespace
}  // namespace tandem
