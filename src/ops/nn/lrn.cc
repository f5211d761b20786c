// Local response normalization: out = x · N^-beta, N = bias + alpha · Σ x² over channels within depth_radius.
#include <algorithm>
#include <cmath>
#include <vector>

#include "graph/gradient.h"
#include "ops/nn/activation.h"
#include "ops/nn/layout.h"
#include "ops/nn/rows.h"

namespace tandem {
namespace {

struct LrnAttrs {
  explicit LrnAttrs(const Attrs& attrs)
      : radius(attrs.GetInt("depth_radius")), bias(attrs.GetFloat("bias")), alpha(attrs.GetFloat("alpha")), beta(attrs.GetFloat("beta")) {
    if (radius < 0) attrs.Fail(InvalidArgument("depth_radius = ", radius, " must not be negative"));
  }

  static Status CheckImage(const Tensor& x, absl::string_view what) {
    if (x.shape().rank() == 4) return OkStatus();
    return InvalidArgument(what, " must be 4-dimensional, got shape ", x.shape().ToString());
  }

  // The channels within reach of channel c.
  std::pair<int64_t, int64_t> Reach(int64_t c, int64_t channels) const {
    const int64_t reach = std::min(radius, channels);
    return {std::max<int64_t>(0, c - reach), std::min(channels, c + reach + 1)};
  }
  float Norm(const float* x, int64_t c, int64_t channels) const {
    const auto [begin, end] = Reach(c, channels);
    float sum = 0;
    for (int64_t i = begin; i < end; ++i) sum += x[i] * x[i];
    return bias + alpha * sum;
  }

  const int64_t radius;
  const float bias, alpha, beta;
};

struct Lrn : LrnAttrs {
  using LrnAttrs::LrnAttrs;

  Status Run(KernelContext& ctx) const {
    RETURN_IF_ERROR(CheckImage(ctx.input(0), "in"));
    ASSIGN_OR_RETURN(const Rows rows, AsRows(ctx.input(0).shape(), "in"));
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, ctx.input(0).shape()));
    ASSIGN_OR_RETURN(const Tensor input, PrepareInput(ctx.input(0), false));
    ASSIGN_OR_RETURN(Tensor work, WorkspaceFor(*output, false));
    const float* x = input.data<float>();
    float* y = work.mutable_data<float>();
    for (int64_t row = 0; row < rows.rows; ++row, x += rows.columns, y += rows.columns) {
      for (int64_t c = 0; c < rows.columns; ++c) y[c] = x[c] * std::pow(Norm(x, c, rows.columns), -beta);
    }
    FinishOutput(work, false, output);
    return OkStatus();
  }
};

// dx_k = Σ_j dy_j · (δ_jk · N_j^-beta - 2 · alpha · beta · x_k · y_j / N_j) over the channels j within reach of k
struct LrnGrad : LrnAttrs {
  using LrnAttrs::LrnAttrs;

  Status Run(KernelContext& ctx) const {
    for (int i = 0; i < 3; ++i) {
      RETURN_IF_ERROR(CheckImage(ctx.input(i), i == 0 ? "in_grads" : i == 1 ? "in_image" : "out_image"));
      if (ctx.input(i).shape() != ctx.input(0).shape()) {
        return InvalidArgument("input_grads, input_image, and out_image should have the same shape, got ", ctx.input(0).shape().ToString(), " and ",
                               ctx.input(i).shape().ToString());
      }
    }
    ASSIGN_OR_RETURN(const Rows rows, AsRows(ctx.input(0).shape(), "in_grads"));
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, ctx.input(0).shape()));
    ASSIGN_OR_RETURN(const Tensor gradient, PrepareInput(ctx.input(0), false));
    ASSIGN_OR_RETURN(const Tensor input, PrepareInput(ctx.input(1), false));
    ASSIGN_OR_RETURN(const Tensor image, PrepareInput(ctx.input(2), false));
    ASSIGN_OR_RETURN(Tensor work, WorkspaceFor(*output, false));
    const int64_t channels = rows.columns;
    float* dx = work.mutable_data<float>();
    std::fill_n(dx, work.num_elements(), 0.0f);
    for (int64_t row = 0; row < rows.rows; ++row, dx += channels) {
      const float* dy = gradient.data<float>() + row * channels;
      const float* x = input.data<float>() + row * channels;
      const float* y = image.data<float>() + row * channels;
      for (int64_t j = 0; j < channels; ++j) {
        const float norm = Norm(x, j, channels);
        const float slope = -2 * alpha * beta * y[j] / norm * dy[j];
        const auto [begin, end] = Reach(j, channels);
        for (int64_t k = begin; k < end; ++k) dx[k] += slope * x[k];
        dx[j] += std::pow(norm, -beta) * dy[j];
      }
    }
    FinishOutput(work, false, output);
    return OkStatus();
  }
};

Status LrnGradient(GradientScope& g) {
  return g.Return({g.Op("LRNGrad", {g.grad(0), g.input(0), g.output(0)},
                        {{"depth_radius", g.attrs().GetInt("depth_radius")},
                         {"bias", g.attrs().GetFloat("bias")},
                         {"alpha", g.attrs().GetFloat("alpha")},
                         {"beta", g.attrs().GetFloat("beta")}})});
}

DEFINE_OP("LRN")
    .Input("input: T")
    .Output("output: T")
    .Attr("depth_radius: int = 5")
    .Attr("bias: float = 1.0")
    .Attr("alpha: float = 1.0")
    .Attr("beta: float = 0.5")
    .Attr("T: F3 = float")
    .Shape(SameAsInput0)
    .Cpu(SameKernelFor<Lrn>({kHalf, kBfloat16, kFloat}))
    .Gradient(LrnGradient);

DEFINE_OP("LRNGrad")
    .Input("input_grads: T")
    .Input("input_image: T")
    .Input("output_image: T")
    .Output("output: T")
    .Attr("depth_radius: int = 5")
    .Attr("bias: float = 1.0")
    .Attr("alpha: float = 1.0")
    .Attr("beta: float = 0.5")
    .Attr("T: F3 = float")
    .Shape(SameAsInput0)
    .Cpu(SameKernelFor<LrnGrad>({kHalf, kBfloat16, kFloat}));

}  // namespace
}  // namespace tandem
