// RandomGamma: samples of Gamma(alpha, 1) by rejection from a transformed normal value (Marsaglia and Tsang 2000).
#include <cmath>

#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/random/distributions.h"
#include "ops/random/seeded_generator.h"

namespace tandem {
namespace {

// Normal and uniform values share one sequence; of the two that a block gives, the second is used first.
class Draws {
 public:
  explicit Draws(Philox generator) : generator_(generator) {}

  double Normal() {
    if (normals_left_ == 0) {
      const Philox::Block x = generator_.Next();
      normals_ = NormalDoubles(x[0], x[1], x[2], x[3]);
      normals_left_ = 2;
    }
    return normals_[--normals_left_];
  }
  double Uniform() {
    if (uniforms_left_ == 0) {
      const Philox::Block x = generator_.Next();
      uniforms_ = {UniformDouble(x[0], x[1]), UniformDouble(x[2], x[3])};
      uniforms_left_ = 2;
    }
    return uniforms_[--uniforms_left_];
  }

 private:
  Philox generator_;
  std::array<double, 2> normals_{}, uniforms_{};
  int normals_left_ = 0, uniforms_left_ = 0;
};

double GammaSample(double alpha, Draws draws) {
  if (alpha == 1) return -std::log1p(-draws.Uniform());
  // Below 1, a sample of alpha + 1 times u^(1/alpha) is one of alpha.
  const bool is_boosted = alpha < 1;
  const double d = alpha + (is_boosted ? 2.0 / 3 : -1.0 / 3), c = 1.0 / 3 / std::sqrt(d);
  if (!std::isfinite(d) || !(d > 0)) return std::nan("");  // no such distribution
  for (;;) {
    const double x = draws.Normal();
    double v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    const double u = draws.Uniform();
    // The first condition implies the second in nearly all cases and needs no logarithm.
    if (u < 1 - 0.0331 * (x * x) * (x * x) || std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v))) {
      return is_boosted ? d * v * std::pow(draws.Uniform(), 1 / alpha) : d * v;
    }
  }
}

struct RandomGamma {
  explicit RandomGamma(const Attrs& attrs) : generator(attrs) {}

  template <typename T>
  Status Run(KernelContext& ctx) {
    ASSIGN_OR_RETURN(Shape shape, ShapeFromVector(ctx.input(0)));
    const Tensor& alphas = ctx.input(1);
    for (int64_t size : alphas.shape().dims()) shape.AddDim(size);
    ASSIGN_OR_RETURN(shape, Shape::Checked(shape.dims()));
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, shape));
    const int64_t count = output->num_elements();
    if (count == 0) return OkStatus();
    const int64_t num_alphas = alphas.num_elements(), samples_per_alpha = count / num_alphas;
    const Philox reserved = generator.Reserve(kBlocksPerElement * count);
    T* to = output->mutable_data<T>();
    for (int64_t a = 0; a < num_alphas; ++a) {
      const double alpha = static_cast<double>(alphas.data<T>()[a]);
      for (int64_t sample = 0; sample < samples_per_alpha; ++sample) {
        Philox own = reserved;  // each sample has its part of the sequence, so that rejections of one do not move the next
        own.Skip(kBlocksPerElement * (a * samples_per_alpha + sample));
        to[sample * num_alphas + a] = static_cast<T>(GammaSample(alpha, Draws(own)));
      }
    }
    return OkStatus();
  }

  SeededGenerator generator;
};

Status GammaShape(ShapeContext& ctx) {
  PartialShape shape = ctx.ConstantAsShape(0);
  const PartialShape& alpha = ctx.input(1);
  if (!shape.has_rank() || !alpha.has_rank()) return OkStatus();
  for (int64_t size : alpha.dims()) shape.AddDim(size);
  ctx.set_output(0, shape);
  return OkStatus();
}

DEFINE_OP("RandomGamma")
    .Input("shape: S")
    .Input("alpha: T")
    .Output("output: T")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Attr("S: IDX")
    .Attr("T: {half, float, double}")
    .Stateful()
    .Shape(GammaShape)
    .Cpu(ForTypes<RandomGamma, Half, float, double>());

}  // namespace
}  // namespace tandem
