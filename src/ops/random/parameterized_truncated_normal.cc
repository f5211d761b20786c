// ParameterizedTruncatedNormal: normal values of given mean and deviation within given bounds, by rejection. Three proposals, chosen
// by where the bounds lie (Robert 1995): normal, uniform between the bounds, exponential from the lower bound.
#include <algorithm>
#include <cmath>

#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/random/distributions.h"
#include "ops/random/seeded_generator.h"

namespace tandem {
namespace {

constexpr int kMaxIterations = 1000;          // rejections in a row before giving up
constexpr double kDeviationsForNormal = 1.3;  // the mean and this much of one side are inside: normal proposals are mostly accepted
constexpr int64_t kSamplesPerSharedBatch = 100;

// `T` numbers of one block at a time. C is what T computes in.
template <typename T>
struct BlockOf {
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
  static constexpr int kSize = std::is_same_v<T, double> ? 2 : 4;
  std::array<C, kSize> values;

  static BlockOf Draw(Distribution distribution, Philox* generator) {
    BlockOf block;
    Tensor made(DataTypeOf<T>::value, Shape{kSize});
    FillRandom(distribution, *generator, &made);
    generator->Skip(1);
    for (int i = 0; i < kSize; ++i) block.values[i] = static_cast<C>(made.data<T>()[i]);
    return block;
  }
};

// Rounds as an operation on T would.
template <typename T, typename C>
C Rounded(C value) {
  return static_cast<C>(static_cast<T>(value));
}

// Standard normal values between `low` and `high`, passed to `accept` until it returns false. False if none is found.
template <typename T>
class TruncatedSampler {
 public:
  using C = typename BlockOf<T>::C;
  TruncatedSampler(C low, C high, Philox* generator) : low_(low), high_(high), generator_(generator) {}

  template <typename Accept>
  bool Run(Accept accept) {
    const C limit = static_cast<C>(kDeviationsForNormal);
    if ((low_ < -limit && high_ >= 0) || (high_ > limit && low_ <= 0)) return FromNormal(accept);
    const C root = std::sqrt(low_ * low_ + C(4));
    const C cutoff = C(2) * std::exp(C(0.5) + low_ * (low_ - root) / C(4)) / (low_ + root);
    return high_ - low_ < cutoff ? FromUniform(accept) : FromExponential(accept);
  }

 private:
  template <typename Accept>
  bool FromNormal(Accept accept) {
    for (int rejected = 0; rejected <= kMaxIterations;) {
      for (C z : BlockOf<T>::Draw(Distribution::kNormal, generator_).values) {
        if (z < low_ || z > high_) {
          ++rejected;
        } else {
          if (!accept(z)) return true;
          rejected = 0;
        }
      }
    }
    return false;
  }

  template <typename Accept>
  bool FromUniform(Accept accept) {
    const C peak = low_ < 0 ? C(0) : low_ * low_;
    for (int rejected = 0; rejected < kMaxIterations;) {
      const auto where = BlockOf<T>::Draw(Distribution::kUniform, generator_), chance = BlockOf<T>::Draw(Distribution::kUniform, generator_);
      for (int i = 0; i < BlockOf<T>::kSize; ++i) {
        const C z = where.values[i] * (high_ - low_) + low_;
        if (chance.values[i] > std::exp((peak - z * z) / C(2))) {
          ++rejected;
        } else {
          if (!accept(z)) return true;
          rejected = 0;
        }
      }
    }
    return false;
  }

  template <typename Accept>
  bool FromExponential(Accept accept) {
    const C rate = (low_ + std::sqrt(low_ * low_ + C(4))) / C(2);
    for (int rejected = 0; rejected < kMaxIterations;) {
      const auto block = BlockOf<T>::Draw(Distribution::kUniform, generator_);
      for (int i = 0; i < BlockOf<T>::kSize; i += 2) {
        const C z = -std::log(block.values[i]) / rate + low_;
        const C x = low_ < rate ? rate - z : low_ - rate;
        if (!(block.values[i + 1] <= std::exp(-x * x / C(2)) && z < high_)) {
          ++rejected;
        } else {
          if (!accept(z)) return true;
          rejected = 0;
        }
      }
    }
    return false;
  }

  const C low_, high_;
  Philox* generator_;
};

struct ParameterizedTruncatedNormal {
  explicit ParameterizedTruncatedNormal(const Attrs& attrs) : generator(attrs) {}

  template <typename T>
  Status Run(KernelContext& ctx) {
    ASSIGN_OR_RETURN(const Shape shape, ShapeFromVector(ctx.input(0)));
    if (shape.rank() == 0) return InvalidArgument("Shape tensor must not be empty, got ", ctx.input(0).shape().ToString());
    int64_t batches = shape.dim(0);
    bool is_shared = true;  // one set of parameters for all batches
    for (int i = 1; i <= 4; ++i) {
      const Shape& parameter = ctx.input(i).shape();
      if (parameter.rank() > 1) return InvalidArgument("Input ", kNames[i], " should be a scalar or vector, got shape: ", parameter.ToString());
      if (parameter.num_elements() == 1) continue;
      if (parameter.num_elements() != batches) {
        return InvalidArgument("Input ", kNames[i], " should have length 1 or shape[0], got shape: ", parameter.ToString());
      }
      is_shared = false;
    }
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, shape));
    const int64_t count = output->num_elements();
    if (count == 0) return OkStatus();
    int64_t per_batch = count / batches;
    if (is_shared) {
      per_batch = kSamplesPerSharedBatch;
      batches = (count + per_batch - 1) / per_batch;
    }
    Philox own = generator.Reserve(static_cast<uint64_t>(batches) * 2 * kMaxIterations * (per_batch + 3) / 4);
    for (int64_t batch = 0; batch < batches; ++batch) {
      const int64_t begin = batch * per_batch, end = std::min(count, begin + per_batch);
      RETURN_IF_ERROR(FillBatch<T>(ctx, batch, output->mutable_data<T>() + begin, end - begin, &own));
    }
    return OkStatus();
  }

  template <typename T>
  static Status FillBatch(KernelContext& ctx, int64_t batch, T* to, int64_t count, Philox* generator) {
    using C = typename BlockOf<T>::C;
    auto parameter = [&](int i) { return static_cast<C>(ctx.input(i).data<T>()[ctx.input(i).num_elements() == 1 ? 0 : batch]); };
    const C mean = parameter(1);
    C deviation = parameter(2), low = parameter(3), high = parameter(4);
    if (!(deviation > 0 && low < high && (std::isfinite(low) || std::isfinite(high)))) {
      return InvalidArgument("Invalid parameters: mean ", mean, ", standard deviation ", deviation, ", bounds ", low, " and ", high);
    }
    // Mirrored where that makes the lower bound finite, or both bounds positive.
    if ((std::isinf(low) && low < 0) || high < mean) {
      std::swap(low, high);
      deviation = -deviation;
    }
    TruncatedSampler<T> sampler(Rounded<T>((low - mean) / deviation), Rounded<T>((high - mean) / deviation), generator);
    int64_t filled = 0;
    const bool is_done = sampler.Run([&](C z) {
      to[filled++] = static_cast<T>(z * deviation + mean);
      return filled < count;
    });
    if (is_done) return OkStatus();
    return Internal("no sample between ", low, " and ", high, " was accepted in ", kMaxIterations, " attempts");
  }

  static constexpr const char* kNames[] = {"shape", "means", "stdevs", "minvals", "maxvals"};
  SeededGenerator generator;
};

DEFINE_OP("ParameterizedTruncatedNormal")
    .Input("shape: T")
    .Input("means: dtype")
    .Input("stdevs: dtype")
    .Input("minvals: dtype")
    .Input("maxvals: dtype")
    .Output("output: dtype")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Attr("dtype: FLT")
    .Attr("T: IDX")
    .Stateful()
    .Shape(ShapeFromInput0)
    .Cpu(ForTypes<ParameterizedTruncatedNormal, Half, float, double>("dtype"))
    .NoGradient();

}  // namespace
}  // namespace tandem
