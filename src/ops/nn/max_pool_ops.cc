// MaxPool and its derivatives. A gradient goes to the first largest value of its window.
#include <vector>

#include "graph/gradient.h"
#include "ops/nn/max_pool.h"

namespace tandem {
namespace {

struct MaxPool : MaxPoolKernel {
  using MaxPoolKernel::MaxPoolKernel;

  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(const WindowSpec spec, Spec(ctx));
    ASSIGN_OR_RETURN(const PoolGeometry g, MakePoolGeometry(spec, ctx.input(0).shape()));
    ASSIGN_OR_RETURN(const Shape shape, PoolOutputShape(spec, ctx.input(0).shape()));
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, shape));
    if (output->num_elements() == 0) return OkStatus();
    ASSIGN_OR_RETURN(const Tensor input, PrepareInput(ctx.input(0), spec.is_channels_first));
    ASSIGN_OR_RETURN(Tensor work, WorkspaceFor(*output, spec.is_channels_first));
    RETURN_IF_ERROR(FillMax(g, input, &work));
    FinishOutput(work, spec.is_channels_first, output);
    return OkStatus();
  }
};

struct MaxPoolGrad : MaxPoolKernel {
  using MaxPoolKernel::MaxPoolKernel;

  Status Run(KernelContext& ctx) const {
    const Tensor& image = ctx.input(0);
    ASSIGN_OR_RETURN(const WindowSpec spec, Spec(ctx));
    ASSIGN_OR_RETURN(const PoolGeometry g, MakePoolGeometry(spec, image.shape()));
    ASSIGN_OR_RETURN(const Shape pooled, PoolOutputShape(spec, image.shape()));
    RETURN_IF_ERROR(CheckShape(ctx.input(1), pooled, "orig_output"));
    RETURN_IF_ERROR(CheckShape(ctx.input(2), pooled, "grad"));
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, image.shape()));
    ASSIGN_OR_RETURN(const Tensor input, PrepareInput(image, spec.is_channels_first));
    ASSIGN_OR_RETURN(const Tensor gradient, PrepareInput(ctx.input(2), spec.is_channels_first));
    ASSIGN_OR_RETURN(Tensor work, WorkspaceFor(*output, spec.is_channels_first));
    ASSIGN_OR_RETURN(const std::vector<int64_t> places, PlacesOfMax(g, input));
    RETURN_IF_ERROR(ScatterGradient(gradient, places, &work));
    FinishOutput(work, spec.is_channels_first, output);
    return OkStatus();
  }
};

// The derivative of MaxPoolGrad by its gradient: picks from a tensor of the image's shape at the places of the maxima.
struct MaxPoolGradGrad : MaxPoolKernel {
  using MaxPoolKernel::MaxPoolKernel;

  Status Run(KernelContext& ctx) const {
    const Tensor& image = ctx.input(0);
    ASSIGN_OR_RETURN(const WindowSpec spec, Spec(ctx));
    ASSIGN_OR_RETURN(const PoolGeometry g, MakePoolGeometry(spec, image.shape()));
    ASSIGN_OR_RETURN(const Shape pooled, PoolOutputShape(spec, image.shape()));
    RETURN_IF_ERROR(CheckShape(ctx.input(1), pooled, "orig_output"));
    RETURN_IF_ERROR(CheckShape(ctx.input(2), image.shape(), "grad"));
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, pooled));
    ASSIGN_OR_RETURN(const Tensor input, PrepareInput(image, spec.is_channels_first));
    ASSIGN_OR_RETURN(const Tensor gradient, PrepareInput(ctx.input(2), spec.is_channels_first));
    ASSIGN_OR_RETURN(Tensor work, WorkspaceFor(*output, spec.is_channels_first));
    ASSIGN_OR_RETURN(const std::vector<int64_t> places, PlacesOfMax(g, input));
    RETURN_IF_ERROR(PickPlaces(gradient, places, Absent::kZero, &work));
    FinishOutput(work, spec.is_channels_first, output);
    return OkStatus();
  }
};

Status SameAsInput1(ShapeContext& ctx) {
  ctx.set_output(0, ctx.input(1));
  return OkStatus();
}

std::vector<NamedAttr> PoolAttrs(const GradientScope& g, bool with_explicit_padding = true) {
  std::vector<NamedAttr> attrs;
  for (const char* name : {"ksize", "strides", "explicit_paddings"}) {
    if (!with_explicit_padding && name == std::string("explicit_paddings")) continue;
    if (g.attrs().Has(name)) attrs.emplace_back(name, AttrValue(g.attrs().GetInts(name)));
  }
  for (const char* name : {"padding", "data_format"}) {
    if (g.attrs().Has(name)) attrs.emplace_back(name, AttrValue(g.attrs().GetString(name)));
  }
  return attrs;
}

Status MaxPoolGradient(GradientScope& g) { return g.Return({g.Op("MaxPoolGrad", {g.input(0), g.output(0), g.grad(0)}, PoolAttrs(g))}); }

Status MaxPoolV2Gradient(GradientScope& g) {
  return g.Return({g.Op("MaxPoolGradV2", {g.input(0), g.output(0), g.grad(0), g.input(1), g.input(2)}, PoolAttrs(g)), Output(), Output()});
}

Status MaxPoolGradGradient(GradientScope& g) {
  return g.Return({g.Op("ZerosLike", {g.input(0)}), g.Op("ZerosLike", {g.input(1)}),
                   g.Op("MaxPoolGradGrad", {g.input(0), g.input(1), g.grad(0)}, PoolAttrs(g, /*with_explicit_padding=*/false))});
}

Status MaxPoolGradGradGradient(GradientScope& g) {
  return g.Return({g.Op("ZerosLike", {g.input(0)}), g.Op("ZerosLike", {g.input(1)}), g.Op("MaxPoolGrad", {g.input(0), g.input(1), g.grad(0)}, PoolAttrs(g))});
}

template <typename K>
KernelSet Kernels() {
  return SameKernelFor<K>({kFloat, kDouble, kInt32, kUint8, kInt16, kInt8, kInt64, kBfloat16, kUint16, kHalf});
}
template <typename K>
KernelSet RealKernels() {
  return SameKernelFor<K>({kFloat, kDouble, kInt32, kUint8, kInt16, kInt8, kInt64, kBfloat16, kUint16, kHalf, kUint32, kUint64});
}

DEFINE_OP("MaxPool")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: {float, double, int32, uint8, int16, int8, int64, qint8, bfloat16, uint16, half} = float")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
    .Attr("explicit_paddings: list(int) = []")
    .Attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
    .Shape(MaxPoolShape)
    .Cpu(Kernels<MaxPool>())
    .Gradient(MaxPoolGradient);

DEFINE_OP("MaxPoolV2")
    .Input("input: T")
    .Input("ksize: int32")
    .Input("strides: int32")
    .Output("output: T")
    .Attr("T: {float, double, int32, uint8, int16, int8, int64, qint8, bfloat16, uint16, half} = float")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
    .Shape(MaxPoolShape)
    .Cpu(Kernels<MaxPool>())
    .Gradient(MaxPoolV2Gradient);

DEFINE_OP("MaxPoolGrad")
    .Input("orig_input: T")
    .Input("orig_output: T")
    .Input("grad: T")
    .Output("output: T")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
    .Attr("explicit_paddings: list(int) = []")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("T: REAL = float")
    .Shape(SameAsInput0)
    .Cpu(RealKernels<MaxPoolGrad>())
    .Gradient(MaxPoolGradGradient);

DEFINE_OP("MaxPoolGradV2")
    .Input("orig_input: T")
    .Input("orig_output: T")
    .Input("grad: T")
    .Input("ksize: int32")
    .Input("strides: int32")
    .Output("output: T")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("T: REAL = float")
    .Shape(SameAsInput0)
    .Cpu(RealKernels<MaxPoolGrad>());

DEFINE_OP("MaxPoolGradGrad")
    .Input("orig_input: T")
    .Input("orig_output: T")
    .Input("grad: T")
    .Output("output: T")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
    .Attr("T: REAL")
    .Shape(SameAsInput1)
    .Cpu(RealKernels<MaxPoolGradGrad>())
    .Gradient(MaxPoolGradGradGradient);

}  // namespace
}  // namespace tandem
