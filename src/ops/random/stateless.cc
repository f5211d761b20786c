// Random ops without a state: the numbers follow from the seed, or from key and counter, alone.
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/random/distributions.h"
#include "ops/random/seeded_generator.h"

namespace tandem {
namespace {

enum Algorithm : int32_t { kPhilox = 1, kThreeFry = 2, kAutoSelect = 3 };

// The seed pair is scrambled by one block, so that neighbouring seeds give unrelated sequences.
Philox FromSeedPair(uint64_t seed0, uint64_t seed1) {
  const Philox::Block mix = Philox(uint64_t{0x02461e29} << 32 | 0x3ec8f720, seed0, seed1).Next();
  return Philox(mix[0] | static_cast<uint64_t>(mix[1]) << 32, 0, mix[2] | static_cast<uint64_t>(mix[3]) << 32);
}

StatusOr<Philox> FromSeedTensor(const Tensor& seed) {
  if (seed.shape() != Shape{2}) return InvalidArgument("seed must have shape [2], not ", seed.shape().ToString());
  if (seed.dtype() == kInt32) {
    const int32_t* s = seed.data<int32_t>();
    return FromSeedPair(static_cast<int64_t>(s[0]), static_cast<int64_t>(s[1]));
  }
  const int64_t* s = seed.data<int64_t>();
  return FromSeedPair(s[0], s[1]);
}

// Inputs key, counter and alg of the V2 ops, from input 1 on.
StatusOr<Philox> FromKeyAndCounter(const KernelContext& ctx) {
  const Tensor &key = ctx.input(1), &counter = ctx.input(2), &alg = ctx.input(3);
  if (!alg.shape().is_scalar()) return InvalidArgument("algorithm must be of shape [], not ", alg.shape().ToString());
  if (key.shape() != Shape{1}) return InvalidArgument("key must have shape [1], not ", key.shape().ToString());
  if (counter.shape().rank() != 1 || counter.num_elements() < 2) {
    return InvalidArgument("counter must be a vector with length at least 2, not ", counter.shape().ToString());
  }
  const int32_t algorithm = alg.scalar<int32_t>();
  if (algorithm != kPhilox && algorithm != kAutoSelect) return InvalidArgument("Unsupported algorithm id: ", algorithm);
  return Philox(key.scalar<uint64_t>(), counter.data<uint64_t>()[0], counter.data<uint64_t>()[1]);
}

template <Distribution distribution, bool has_key>
struct StatelessFill {
  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(const Shape shape, ShapeFromVector(ctx.input(0)));
    ASSIGN_OR_RETURN(const Philox generator, has_key ? FromKeyAndCounter(ctx) : FromSeedTensor(ctx.input(1)));
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, shape));
    if (output->num_elements() > 0) FillRandom(distribution, generator, output);
    return OkStatus();
  }
};

template <bool with_algorithm>
struct GetKeyCounter {
  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(const Philox generator, FromSeedTensor(ctx.input(0)));
    ctx.set_output(0, Tensor::Of<uint64_t>(Shape{1}, {generator.key()}));
    ctx.set_output(1, Tensor::Of<uint64_t>(Shape{2}, {generator.counter_low(), generator.counter_high()}));
    if (with_algorithm) ctx.set_output(2, Tensor::Scalar<int32_t>(kPhilox));
    return OkStatus();
  }
};

struct GetAlgorithm {
  Status Run(KernelContext& ctx) const {
    ctx.set_output(0, Tensor::Scalar<int32_t>(kPhilox));
    return OkStatus();
  }
};

Status KeyCounterShape(ShapeContext& ctx) {
  if (!ctx.input(0).IsCompatibleWith(Shape{2})) return InvalidArgument("seed must have shape [2], not ", ctx.input(0).ToString());
  ctx.set_output(0, Shape{1});
  ctx.set_output(1, Shape{2});
  if (ctx.num_outputs() > 2) ctx.set_output(2, PartialShape::Scalar());
  return OkStatus();
}

OpBuilder SeedOp(const char* name) {
  return OpBuilder(name)
      .Input("shape: T")
      .Input("seed: Tseed")
      .Output("output: dtype")
      .Attr("dtype: FLT = float")
      .Attr("T: IDX = int32")
      .Attr("Tseed: IDX = int64")
      .Shape(ShapeFromInput0)
      .NoGradient();
}
OpBuilder KeyOp(const char* name) {
  return OpBuilder(name)
      .Input("shape: Tshape")
      .Input("key: uint64")
      .Input("counter: uint64")
      .Input("alg: int32")
      .Output("output: dtype")
      .Attr("dtype: FLT = float")
      .Attr("Tshape: IDX = int32")
      .Shape(ShapeFromInput0)
      .NoGradient();
}

const OpRegistrar kUniform = SeedOp("StatelessRandomUniform").Cpu(AnyType<StatelessFill<Distribution::kUniform, false>>());
const OpRegistrar kNormal = SeedOp("StatelessRandomNormal").Cpu(AnyType<StatelessFill<Distribution::kNormal, false>>());
const OpRegistrar kTruncated = SeedOp("StatelessTruncatedNormal").Cpu(AnyType<StatelessFill<Distribution::kTruncatedNormal, false>>());
const OpRegistrar kUniformV2 = KeyOp("StatelessRandomUniformV2").Cpu(AnyType<StatelessFill<Distribution::kUniform, true>>());
const OpRegistrar kNormalV2 = KeyOp("StatelessRandomNormalV2").Cpu(AnyType<StatelessFill<Distribution::kNormal, true>>());
const OpRegistrar kTruncatedV2 = KeyOp("StatelessTruncatedNormalV2").Cpu(AnyType<StatelessFill<Distribution::kTruncatedNormal, true>>());

DEFINE_OP("StatelessRandomGetKeyCounter")
    .Input("seed: Tseed")
    .Output("key: uint64")
    .Output("counter: uint64")
    .Attr("Tseed: IDX = int64")
    .Shape(KeyCounterShape)
    .Cpu(AnyType<GetKeyCounter<false>>())
    .NoGradient();

DEFINE_OP("StatelessRandomGetKeyCounterAlg")
    .Input("seed: Tseed")
    .Output("key: uint64")
    .Output("counter: uint64")
    .Output("alg: int32")
    .Attr("Tseed: IDX = int64")
    .Shape(KeyCounterShape)
    .Cpu(AnyType<GetKeyCounter<true>>())
    .NoGradient();

DEFINE_OP("StatelessRandomGetAlg").Output("alg: int32").Stateful().Shape(ScalarOutputs).Cpu(AnyType<GetAlgorithm>()).NoGradient();

}  // namespace
}  // namespace tandem
