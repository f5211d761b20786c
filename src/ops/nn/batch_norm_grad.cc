// The gradients of FusedBatchNorm.
#include <cmath>

#include "graph/shape_inference.h"
#include "ops/nn/batch_norm.h"

namespace tandem {
namespace {

// With r = 1 / sqrt(variance + epsilon):
//   doffset = Σ dy,  dscale = r · Σ dy·(x - mean)
//   dx = scale · r · (dy - mean(dy) - (x - mean) · r² · mean(dy·(x - mean))); without the means if they were given
struct FusedBatchNormGrad : BatchNormAttrs {
  using BatchNormAttrs::BatchNormAttrs;

  Status Run(KernelContext& ctx) const {
    const Tensor &dy = ctx.input(0), &x = ctx.input(1);
    ASSIGN_OR_RETURN(const int64_t channels, CheckImage(x));
    if (dy.shape() != x.shape()) {
      return InvalidArgument("x and y_backprop must have same shape, but x has shape ", x.shape().ToString(), " and y_backprop has shape ",
                             dy.shape().ToString());
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

Status BatchNormGradShape(ShapeContext& ctx) {
  ctx.set_output(0, ctx.input(0));
  for (int i = 1; i <= 2; ++i) ctx.set_output(i, ctx.input(2));
  for (int i = 3; i <= 4; ++i) ctx.set_output(i, PartialShape{0});
  return OkStatus();
}

OpBuilder BackwardOp(const char* name) { return OpBuilder(name).Attr("epsilon: float = 0.0001").Attr("is_training: bool = true").Shape(BatchNormGradShape); }

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
