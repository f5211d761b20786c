// FusedBatchNorm: y = (x - mean) / sqrt(variance + epsilon) · scale + offset, per channel.
#include "ops/nn/batch_norm.h"

#include <cmath>

#include "graph/gradient.h"
#include "graph/shape_inference.h"

namespace tandem {
namespace {

struct FusedBatchNorm : BatchNormAttrs {
  using BatchNormAttrs::BatchNormAttrs;

  Status Run(KernelContext& ctx) const {
    const Tensor& x = ctx.input(0);
    ASSIGN_OR_RETURN(const int64_t channels, CheckImage(x));
    RETURN_IF_ERROR(CheckVector(ctx.input(1), "scale", channels));
    RETURN_IF_ERROR(CheckVector(ctx.input(2), "offset", channels));
    if (!is_training || average_factor != 1) {
      RETURN_IF_ERROR(CheckVector(ctx.input(3), "mean", channels));
      RETURN_IF_ERROR(CheckVector(ctx.input(4), "variance", channels));
    }
    ASSIGN_OR_RETURN(Tensor * y, ctx.Allocate(0, x.shape()));
    float* out[4];  // mean and variance for the caller, then those for the gradient
    for (int i = 0; i < 4; ++i) {
      ASSIGN_OR_RETURN(Tensor * made, ctx.Allocate(1 + i, Shape{channels}));
      out[i] = made->mutable_data<float>();
    }
    if (ctx.num_outputs() > 5) ctx.set_output(5, Tensor::Scalar(0.0f));  // of no use on CPUs

    ASSIGN_OR_RETURN(const Tensor in, PrepareInput(x, is_channels_first));
    ASSIGN_OR_RETURN(Tensor work, WorkspaceFor(*y, is_channels_first));
    const int64_t rows = channels == 0 ? 0 : x.num_elements() / channels;
    if (is_training) {
      Statistics(ctx, in.data<float>(), rows, channels, out);
      Normalize(ctx, in.data<float>(), rows, channels, out[2], out[3], work.mutable_data<float>());
    } else {
      std::copy_n(ctx.input(3).data<float>(), channels, out[0]);
      std::copy_n(ctx.input(4).data<float>(), channels, out[1]);
      std::fill_n(out[2], channels, 0.0f);
      std::fill_n(out[3], channels, 0.0f);
      Normalize(ctx, in.data<float>(), rows, channels, out[0], out[1], work.mutable_data<float>());
    }
    FinishOutput(work, is_channels_first, y);
    return OkStatus();
  }

  // The variance that is handed out is the unbiased one; the running averages move by `average_factor` towards the batch's.
  void Statistics(KernelContext& ctx, const float* x, int64_t rows, int64_t channels, float* const out[4]) const {
    const double count = static_cast<double>(rows), unbiased = rows > 1 ? count / (count - 1) : 1;
    std::vector<double> sums = SumOverRows(rows, channels, [x](int64_t i, int64_t) { return x[i]; });
    float* mean = out[2];
    for (int64_t c = 0; c < channels; ++c) mean[c] = static_cast<float>(sums[c] / count);
    sums = SumOverRows(rows, channels, [x, mean](int64_t i, int64_t c) { return (x[i] - mean[c]) * (x[i] - mean[c]); });
    for (int64_t c = 0; c < channels; ++c) {
      const double variance = sums[c] / count;
      out[3][c] = static_cast<float>(variance);
      if (average_factor == 1) {
        out[0][c] = mean[c];
        out[1][c] = static_cast<float>(variance * unbiased);
      } else {
        out[0][c] = (1 - average_factor) * ctx.input(3).data<float>()[c] + average_factor * mean[c];
        out[1][c] = static_cast<float>((1 - average_factor) * ctx.input(4).data<float>()[c] + average_factor * variance * unbiased);
      }
    }
  }

  void Normalize(KernelContext& ctx, const float* x, int64_t rows, int64_t channels, const float* mean, const float* variance, float* y) const {
    const float* scale = ctx.input(1).data<float>();
    const float* offset = ctx.input(2).data<float>();
    std::vector<float> factors(channels);
    for (int64_t c = 0; c < channels; ++c) factors[c] = scale[c] / std::sqrt(variance[c] + epsilon);
    const float* factor = factors.data();
    for (int64_t row = 0; row < rows; ++row, x += channels, y += channels) {
#pragma GCC ivdep
      for (int64_t c = 0; c < channels; ++c) y[c] = (x[c] - mean[c]) * factor[c] + offset[c];
    }
  }
};

Status BatchNormShape(ShapeContext& ctx) {
  const PartialShape& x = ctx.input(0);
  const std::string format = ctx.attrs().GetString("data_format");
  const bool is_channels_first = format == "NCHW" || format == "NCDHW";
  int64_t channels = x.has_rank() && x.rank() >= 4 ? x.dim(is_channels_first ? 1 : x.rank() - 1) : kUnknownSize;
  for (int i = 1; i <= 2 && channels == kUnknownSize; ++i) {
    if (ctx.input(i).has_rank() && ctx.input(i).rank() == 1) channels = ctx.input(i).dim(0);
  }
  if (x.has_rank() && x.rank() != 4 && x.rank() != 5) return InvalidArgument("Shape must be rank 4 or 5 but is rank ", x.rank());
  ctx.set_output(0, x);
  for (int i = 1; i <= 4; ++i) ctx.set_output(i, PartialShape{channels});
  return OkStatus();
}

// Of training, the gradient reads what the forward op kept; else the statistics that it was given.
GradientFunction BatchNormGradient(const char* gradient_op) {
  return [=](GradientScope& g) {
    const bool is_training = g.attrs().GetBool("is_training");
    std::vector<Output> inputs = {g.grad(0), g.input(0), g.input(1), is_training ? g.output(3) : g.input(3), is_training ? g.output(4) : g.input(4)};
    if (g.attrs().output_types().size() > 5) inputs.push_back(g.output(5));
    std::vector<Output> results =
        g.OpList(gradient_op, inputs,
                 {{"epsilon", g.attrs().GetFloat("epsilon")}, {"data_format", AttrValue(g.attrs().GetString("data_format"))}, {"is_training", is_training}});
    results.resize(3);
    return g.Return({results[0], results[1], results[2], Output(), Output()});
  };
}

OpBuilder ForwardOp(const char* name) {
  return OpBuilder(name).Attr("epsilon: float = 0.0001").Attr("exponential_avg_factor: float = 1.0").Attr("is_training: bool = true").Shape(BatchNormShape);
}
DEFINE_OP("FusedBatchNorm")
    .Input("x: T")
    .Input("scale: T")
    .Input("offset: T")
    .Input("mean: T")
    .Input("variance: T")
    .Output("y: T")
    .Output("batch_mean: T")
    .Output("batch_variance: T")
    .Output("reserve_space_1: T")
    .Output("reserve_space_2: T")
    .Attr("T: {float}")
    .Attr("epsilon: float = 0.0001")
    .Attr("exponential_avg_factor: float = 1.0")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("is_training: bool = true")
    .Shape(BatchNormShape)
    .Cpu(SameKernelFor<FusedBatchNorm>({kFloat}))
    .Gradient(BatchNormGradient("FusedBatchNormGrad"));

const OpRegistrar kFusedBatchNormV2 = ForwardOp("FusedBatchNormV2")
                                          .Input("x: T")
                                          .Input("scale: U")
                                          .Input("offset: U")
                                          .Input("mean: U")
                                          .Input("variance: U")
                                          .Output("y: T")
                                          .Output("batch_mean: U")
                                          .Output("batch_variance: U")
                                          .Output("reserve_space_1: U")
                                          .Output("reserve_space_2: U")
                                          .Attr("T: F3")
                                          .Attr("U: {float}")
                                          .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
                                          .Cpu(SameKernelFor<FusedBatchNorm>({kHalf, kBfloat16, kFloat}))
                                          .Gradient(BatchNormGradient("FusedBatchNormGradV2"));

const OpRegistrar kFusedBatchNormV3 = ForwardOp("FusedBatchNormV3")
                                          .Input("x: T")
                                          .Input("scale: U")
                                          .Input("offset: U")
                                          .Input("mean: U")
                                          .Input("variance: U")
                                          .Output("y: T")
                                          .Output("batch_mean: U")
                                          .Output("batch_variance: U")
                                          .Output("reserve_space_1: U")
                                          .Output("reserve_space_2: U")
                                          .Output("reserve_space_3: U")
                                          .Attr("T: F3")
                                          .Attr("U: {bfloat16, float}")
                                          .Attr("data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'")
                                          .Cpu(SameKernelFor<FusedBatchNorm>({kHalf, kBfloat16, kFloat}))
                                          .Gradient(BatchNormGradient("FusedBatchNormGradV3"));

}  // namespace
}  // namespace tandem
