// RandomUniform, RandomStandardNormal, TruncatedNormal, RandomUniformInt: a tensor of independent numbers of the asked-for shape.
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/random/distributions.h"
#include "ops/random/seeded_generator.h"

namespace tandem {
namespace {

template <Distribution distribution>
struct RandomFill {
  explicit RandomFill(const Attrs& attrs) : generator(attrs) {}

  Status Run(KernelContext& ctx) {
    ASSIGN_OR_RETURN(const Shape shape, ShapeFromVector(ctx.input(0)));
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, shape));
    if (output->num_elements() == 0) return OkStatus();
    FillRandom(distribution, generator.Reserve(kBlocksPerElement * output->num_elements()), output);
    return OkStatus();
  }

  SeededGenerator generator;
};

struct RandomUniformInt {
  explicit RandomUniformInt(const Attrs& attrs) : generator(attrs) {}

  template <typename T>
  Status Run(KernelContext& ctx) {
    ASSIGN_OR_RETURN(const Shape shape, ShapeFromVector(ctx.input(0)));
    const Tensor &low = ctx.input(1), &high = ctx.input(2);
    if (!low.shape().is_scalar()) return InvalidArgument("minval must be 0-D, got shape ", low.shape().ToString());
    if (!high.shape().is_scalar()) return InvalidArgument("maxval must be 0-D, got shape ", high.shape().ToString());
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, shape));
    const int64_t count = output->num_elements();
    if (count == 0) return OkStatus();
    const T lo = low.scalar<T>(), hi = high.scalar<T>();
    if (lo >= hi) return InvalidArgument("Need minval < maxval, got ", lo, " >= ", hi);
    using Unsigned = std::make_unsigned_t<T>;
    const Unsigned base = static_cast<Unsigned>(lo), range = static_cast<Unsigned>(hi) - base;
    PhiloxWords words(generator.Reserve(kBlocksPerElement * count));
    T* to = output->mutable_data<T>();
    for (int64_t i = 0; i < count; ++i) {
      Unsigned bits = words.Next();
      if constexpr (sizeof(T) == 8) bits |= static_cast<Unsigned>(words.Next()) << 32;
      to[i] = static_cast<T>(base + bits % range);
    }
    return OkStatus();
  }

  SeededGenerator generator;
};

OpBuilder RandomOp(const char* name) {
  return OpBuilder(name)
      .Input("shape: T")
      .Output("output: dtype")
      .Attr("seed: int = 0")
      .Attr("seed2: int = 0")
      .Attr("dtype: FLT")
      .Attr("T: IDX")
      .Stateful()
      .Shape(ShapeFromInput0)
      .NoGradient();
}

const OpRegistrar kUniform = RandomOp("RandomUniform").Cpu(AnyType<RandomFill<Distribution::kUniform>>());
const OpRegistrar kNormal = RandomOp("RandomStandardNormal").Cpu(AnyType<RandomFill<Distribution::kNormal>>());
const OpRegistrar kTruncatedNormal = RandomOp("TruncatedNormal").Cpu(AnyType<RandomFill<Distribution::kTruncatedNormal>>());

DEFINE_OP("RandomUniformInt")
    .Input("shape: T")
    .Input("minval: Tout")
    .Input("maxval: Tout")
    .Output("output: Tout")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Attr("Tout: IDX")
    .Attr("T: IDX")
    .Stateful()
    .Shape(ShapeFromInput0)
    .Cpu(ForTypes<RandomUniformInt, int32_t, int64_t>("Tout"))
    .NoGradient();

}  // namespace
}  // namespace tandem
