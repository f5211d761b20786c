// MaxPoolWithArgmax also tells where each largest value is, as an index into its image or into the whole batch.
#include <vector>

#include "graph/gradient.h"
#include "ops/nn/max_pool.h"

namespace tandem {
namespace {

struct MaxPoolWithArgmax : MaxPoolKernel {
  explicit MaxPoolWithArgmax(const Attrs& attrs) : MaxPoolKernel(attrs), includes_batch(attrs.GetBool("include_batch_in_index")) {}

  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(const WindowSpec spec, Spec(ctx));
    ASSIGN_OR_RETURN(const PoolGeometry g, MakePoolGeometry(spec, ctx.input(0).shape()));
    if (spec.channel_size != 1) return Unimplemented("MaxPoolWithArgmax across channels");
    const Shape shape = g.OutputShape();
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, shape));
    ASSIGN_OR_RETURN(Tensor * argmax, ctx.Allocate(1, shape));
    ASSIGN_OR_RETURN(const Tensor input, PrepareInput(ctx.input(0), false));
    ASSIGN_OR_RETURN(Tensor work, WorkspaceFor(*output, false));
    ASSIGN_OR_RETURN(const std::vector<int64_t> places, PlacesOfMax(g, input));
    RETURN_IF_ERROR(PickPlaces(input, places, Absent::kLowest, &work));
    FinishOutput(work, false, output);
    const int64_t image_size = g.height.in * g.width.in * g.channels;
    for (size_t i = 0; i < places.size(); ++i) {
      const int64_t place = includes_batch || places[i] < 0 ? places[i] : places[i] % image_size;
      if (argmax->dtype() == kInt32) {
        argmax->mutable_data<int32_t>()[i] = static_cast<int32_t>(place);
      } else {
        argmax->mutable_data<int64_t>()[i] = place;
      }
    }
    return OkStatus();
  }

  const bool includes_batch;
};

struct MaxPoolGradWithArgmax : MaxPoolKernel {
  explicit MaxPoolGradWithArgmax(const Attrs& attrs) : MaxPoolKernel(attrs), includes_batch(attrs.GetBool("include_batch_in_index")) {}

  Status Run(KernelContext& ctx) const {
    const Tensor &image = ctx.input(0), &argmax = ctx.input(2);
    ASSIGN_OR_RETURN(const WindowSpec spec, Spec(ctx));
    ASSIGN_OR_RETURN(const Shape pooled, PoolOutputShape(spec, image.shape()));
    RETURN_IF_ERROR(CheckShape(ctx.input(1), pooled, "grad"));
    RETURN_IF_ERROR(CheckShape(argmax, pooled, "argmax"));
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, image.shape()));
    std::vector<int64_t> places(argmax.num_elements());
    const int64_t batch = image.shape().dim(0), image_size = batch == 0 ? 0 : image.num_elements() / batch;
    const int64_t per_image = batch == 0 ? 1 : static_cast<int64_t>(places.size()) / batch;
    for (size_t i = 0; i < places.size(); ++i) {
      places[i] = argmax.dtype() == kInt32 ? argmax.data<int32_t>()[i] : argmax.data<int64_t>()[i];
      const int64_t limit = includes_batch ? image.num_elements() : image_size;
      if (places[i] < 0 || places[i] >= limit) return InvalidArgument("argmax value ", places[i], " is outside [0, ", limit, ")");
      if (!includes_batch) places[i] += static_cast<int64_t>(i) / per_image * image_size;
    }
    ASSIGN_OR_RETURN(const Tensor gradient, PrepareInput(ctx.input(1), false));
    ASSIGN_OR_RETURN(Tensor work, WorkspaceFor(*output, false));
    RETURN_IF_ERROR(ScatterGradient(gradient, places, &work));
    FinishOutput(work, false, output);
    return OkStatus();
  }

  const bool includes_batch;
};

Status MaxPoolWithArgmaxGradient(GradientScope& g) {
  return g.Return({g.Op("MaxPoolGradWithArgmax", {g.input(0), g.grad(0), g.output(1)},
                        {{"ksize", AttrValue(g.attrs().GetInts("ksize"))},
                         {"strides", AttrValue(g.attrs().GetInts("strides"))},
                         {"padding", AttrValue(g.attrs().GetString("padding"))},
                         {"include_batch_in_index", g.attrs().GetBool("include_batch_in_index")}})});
}

template <typename K>
KernelSet RealKernels() {
  return SameKernelFor<K>({kFloat, kDouble, kInt32, kUint8, kInt16, kInt8, kInt64, kBfloat16, kUint16, kHalf, kUint32, kUint64});
}

DEFINE_OP("MaxPoolWithArgmax")
    .Input("input: T")
    .Output("output: T")
    .Output("argmax: Targmax")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("Targmax: IDX = int64")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("include_batch_in_index: bool = false")
    .Attr("T: REAL")
    .Shape(MaxPoolShape)
    .Cpu(RealKernels<MaxPoolWithArgmax>())
    .Gradient(MaxPoolWithArgmaxGradient);

DEFINE_OP("MaxPoolGradWithArgmax")
    .Input("input: T")
    .Input("grad: T")
    .Input("argmax: Targmax")
    .Output("output: T")
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Attr("include_batch_in_index: bool = false")
    .Attr("Targmax: IDX")
    .Attr("T: REAL")
    .Shape(SameAsInput0)
    .Cpu(RealKernels<MaxPoolGradWithArgmax>());

}  // namespace
}  // namespace tandem
