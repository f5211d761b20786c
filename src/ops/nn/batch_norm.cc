// FusedBatchNorm and its gradient: y = (x - mean) / sqrt(variance + epsilon) · scale + offset, per channel.
#include <algorithm>
#include <cmath>
#include <vector>

#include "graph/gradient.h"
#include "graph/shape_inference.h"
#include "ops/nn/layout.h"

namespace tandem {
namespace {

constexpr int64_t kRowsPerBlock = 256;  // summed in float before they join the double totals

// Adds up f(row, channel) over all rows.
template <typename F>
std::vector<double> SumOverRows(int64_t rows, int64_t channels, F f) {
  std::vector<double> totals(channels, 0);
  std::vector<float> block(channels);
  for (int64_t begin = 0; begin < rows; begin += kRowsPerBlock) {
    std::fill(block.begin(), block.end(), 0.0f);
    const int64_t end = std::min(rows, begin + kRowsPerBlock);
    for (int64_t row = begin; row < end; ++row) {
      float* sum = block.data();
#pragma GCC ivdep
      for (int64_t c = 0; c < channels; ++c) sum[c] += f(row * channels + c, c);
    }
    for (int64_t c = 0; c < channels; ++c) totals[c] += block[c];
  }
  return totals;
}

struct BatchNormAttrs {
  explicit BatchNormAttrs(const Attrs& attrs)
      : epsilon(attrs.GetFloat("epsilon")), is_training(attrs.GetBool("is_training")),
        average_factor(attrs.Has("exponential_avg_factor") ? attrs.GetFloat("exponential_avg_factor") : 1) {
    const std::string format = attrs.GetString("data_format");
    is_channels_first = format == "NCHW" || format == "NCDHW";
  }

  // The channels of x.
  StatusOr<int64_t> CheckImage(const Tensor& x) const {
    const int rank = x.shape().rank();
    if (rank != 4 && rank != 5) return InvalidArgument("input must be 4 or 5-dimensional, got shape ", x.shape().ToString());
    return x.shape().dim(is_channels_first ? 1 : rank - 1);
  }
  static Status CheckVector(const Tensor& vector, absl::string_view name, int64_t channels) {
    if (vector.dtype() != kFloat) return Unimplemented("batch normalization with ", name, " of type ", DataTypeName(vector.dtype()));
    if (vector.shape() == Shape{channels}) return OkStatus();
    return InvalidArgument(name, " must be a vector with one element for each of the ", channels, " channels of x, got shape ", vector.shape().ToString());
  }

  float epsilon;
  bool is_training;
  float average_factor;
  bool is_channels_first;
};

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

// With r = 1 / sqrt(variance + epsilon):
//   doffset = Σ dy,  dscale = r · Σ dy·(x - mean)
//   dx = scale · r · (dy - mean(dy) - (x - mean) · r² · mean(dy·(x - mean))); without the means if they were given
struct FusedBatchNormGrad : BatchNormAttrs {
  using BatchNormAttrs::BatchNormAttrs;

  Status Run(KernelContext& ctx) const {
    const Tensor &dy = ctx.input(0), &x = ctx.input(1);
    ASSIGN_OR_RETURN(const int64_t channels, CheckImage(x));
    if (dy.shape() != x.shape()) {
      return InvalidArgument("x and y_backprop must have same shape, but x has shape ", x.shape().ToString(), " and y_backprop has shape ", dy.shape().ToString());
    }
    RETURN_IF_ERROR(CheckVector(ctx.input(2), "scale", channels));
    RETURN_IF_ERROR(CheckVector(ctx.input(3), "reserve_space_1", channels));
    RETURN_IF_ERROR(CheckVector(ctx.input(4), "reserve_space_2", channels));
    ASSIGN_OR_RETURN(Tensor * dx, ctx.Allocate(0, x.shape()));
    ASSIGN_OR_RETURN(Tensor * dscale, ctx.Allocate(1, Shape{channels}));
    ASSIGN_OR_RETURN(Tensor * doffset, ctx.Allocate(2, Shape{channels}));
    for (int i = 3; i < ctx.num_outputs(); ++i) ctx.set_output(i, Tensor(kFloat, Shape{0}));

    ASSIGN_OR_RETURN(const Tensor in, PrepareInput(x, is_channels_first));
    ASSIGN_OR_RETURN(const Tensor gradient, PrepareInput(dy, is_channels_first));
    ASSIGN_OR_RETURN(Tensor work, WorkspaceFor(*dx, is_channels_first));
    Compute(ctx, gradient.data<float>(), in.data<float>(), channels == 0 ? 0 : x.num_elements() / channels, channels, work.mutable_data<float>(),
            dscale->mutable_data<float>(), doffset->mutable_data<float>());
    FinishOutput(work, is_channels_first, dx);
    return OkStatus();
  }

  void Compute(KernelContext& ctx, const float* dy, const float* x, int64_t rows, int64_t channels, float* dx, float* dscale, float* doffset) const {
    const float* scale = ctx.input(2).data<float>();
    const float* mean = ctx.input(3).data<float>();
    const float* variance = ctx.input(4).data<float>();
    const std::vector<double> sum_dy = SumOverRows(rows, channels, [dy](int64_t i, int64_t) { return dy[i]; });
    const std::vector<double> sum_dy_x = SumOverRows(rows, channels, [dy, x, mean](int64_t i, int64_t c) { return dy[i] * (x[i] - mean[c]); });
    std::vector<float> factors(channels), shifts(channels), slopes(channels);
    for (int64_t c = 0; c < channels; ++c) {
      const double r = 1 / std::sqrt(static_cast<double>(variance[c]) + epsilon);
      doffset[c] = static_cast<float>(sum_dy[c]);
      dscale[c] = static_cast<float>(sum_dy_x[c] * r);
      factors[c] = static_cast<float>(scale[c] * r);
      if (!is_training) continue;
      shifts[c] = static_cast<float>(sum_dy[c] / rows);
      slopes[c] = static_cast<float>(sum_dy_x[c] / rows * r * r);
    }
    const float *factor = factors.data(), *shift = shifts.data(), *slope = slopes.data();
    for (int64_t row = 0; row < rows; ++row, x += channels, dy += channels, dx += channels) {
#pragma GCC ivdep
      for (int64_t c = 0; c < channels; ++c) dx[c] = factor[c] * (dy[c] - shift[c] - (x[c] - mean[c]) * slope[c]);
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

Status BatchNormGradShape(ShapeContext& ctx) {
  ctx.set_output(0, ctx.input(0));
  for (int i = 1; i <= 2; ++i) ctx.set_output(i, ctx.input(2));
  for (int i = 3; i <= 4; ++i) ctx.set_output(i, PartialShape{0});
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
  return OpBuilder(name)
      .Attr("epsilon: float = 0.0001")
      .Attr("exponential_avg_factor: float = 1.0")
      .Attr("is_training: bool = true")
      .Shape(BatchNormShape);
}
OpBuilder BackwardOp(const char* name) {
  return OpBuilder(name).Attr("epsilon: float = 0.0001").Attr("is_training: bool = true").Shape(BatchNormGradShape);
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

DEFINE_OP("FusedBatchNormGrad")
    .Input("y_backprop: T")
    .Input("x: T")
    .Input("scale: T")
    .Input("reserve_space_1: T")
    .Input("reserve_space_2: T")
    .Output("x_backprop: T")
    .Output("scale_backprop: T")
    .Output("offset_backprop: T")
    .Output("reserve_space_3: T")
    .Output("reserve_space_4: T")
    .Attr("T: {float}")
    .Attr("epsilon: float = 0.0001")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("is_training: bool = true")
    .Shape(BatchNormGradShape)
    .Cpu(SameKernelFor<FusedBatchNormGrad>({kFloat}));

const OpRegistrar kFusedBatchNormGradV2 = BackwardOp("FusedBatchNormGradV2")
                                              .Input("y_backprop: T")
                                              .Input("x: T")
                                              .Input("scale: float")
                                              .Input("reserve_space_1: U")
                                              .Input("reserve_space_2: U")
                                              .Output("x_backprop: T")
                                              .Output("scale_backprop: U")
                                              .Output("offset_backprop: U")
                                              .Output("reserve_space_3: U")
                                              .Output("reserve_space_4: U")
                                              .Attr("T: F3")
                                              .Attr("U: {float}")
                                              .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
                                              .Cpu(SameKernelFor<FusedBatchNormGrad>({kHalf, kBfloat16, kFloat}));

const OpRegistrar kFusedBatchNormGradV3 = BackwardOp("FusedBatchNormGradV3")
                                              .Input("y_backprop: T")
                                              .Input("x: T")
                                              .Input("scale: float")
                                              .Input("reserve_space_1: U")
                                              .Input("reserve_space_2: U")
                                              .Input("reserve_space_3: U")
                                              .Output("x_backprop: T")
                                              .Output("scale_backprop: U")
                                              .Output("offset_backprop: U")
                                              .Output("reserve_space_4: U")
                                              .Output("reserve_space_5: U")
                                              .Attr("T: F3")
                                              .Attr("U: {float}")
                                              .Attr("data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'")
                                              .Cpu(SameKernelFor<FusedBatchNormGrad>({kHalf, kBfloat16, kFloat}));

}  // namespace
}  // namespace tandem
