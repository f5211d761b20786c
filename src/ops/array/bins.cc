// Bucketize and Bincount: which bin a number falls into, and how many fall into each.
#include <algorithm>
#include <vector>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"

namespace tandem {
namespace {

struct Bucketize {
  explicit Bucketize(const Attrs& attrs) : boundaries(attrs.GetFloats("boundaries")) {
    if (!std::is_sorted(boundaries.begin(), boundaries.end())) attrs.Fail(InvalidArgument("Expected sorted boundaries"));
  }

  template <typename T>
  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, input.shape()));
    const T* from = input.data<T>();
    int32_t* to = output->mutable_data<int32_t>();
    int64_t count = input.num_elements();
    for (int64_t i = 0; i < count; ++i) {
      to[i] = static_cast<int32_t>(std::upper_bound(boundaries.begin(), boundaries.end(), from[i]) - boundaries.begin());
    }
    return OkStatus();
  }

  std::vector<float> boundaries;
};

struct Bincount {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    const Tensor &arr = ctx.input(0), &weights = ctx.input(2);
    if (ctx.input(1).num_elements() != 1) return InvalidArgument("Shape must be rank 0 but is rank ", ctx.input(1).shape().rank());
    int64_t size = *ctx.input(1).data<int32_t>();
    if (size < 0) return InvalidArgument("size (", size, ") must be non-negative");
    bool has_weights = weights.num_elements() > 0;
    if (has_weights && weights.num_elements() != arr.num_elements()) return InvalidArgument("Input indices and weights must have the same size.");
    ASSIGN_OR_RETURN(Tensor* bins, ctx.Allocate(0, Shape{size}));
    T* to = bins->mutable_data<T>();
    std::fill_n(to, size, T(0));
    const int32_t* from = arr.data<int32_t>();
    for (int64_t i = 0; i < arr.num_elements(); ++i) {
      int32_t bin = from[i];
      if (bin < 0) return InvalidArgument("Input arr must be non-negative!");
      if (bin < size) to[bin] += has_weights ? weights.data<T>()[i] : T(1);
    }
    return OkStatus();
  }
};

Status BincountShape(ShapeContext& ctx) {
  int64_t size;
  ctx.set_output(0, PartialShape{ConstantScalar(ctx, 1, &size) && size >= 0 ? size : kUnknownSize});
  return OkStatus();
}

DEFINE_OP("Bucketize")
    .Input("input: T")
    .Output("output: int32")
    .Attr("T: {int32, int64, float, double}")
    .Attr("boundaries: list(float)")
    .Shape(SameAsInput0)
    .Cpu(ForTypes<Bucketize, int32_t, int64_t, float, double>())
    .NoGradient();

DEFINE_OP("Bincount")
    .Input("arr: int32")
    .Input("size: int32")
    .Input("weights: T")
    .Output("bins: T")
    .Attr("T: {int32, int64, float, double}")
    .Shape(BincountShape)
    .Cpu(ForTypes<Bincount, int32_t, int64_t, float, double>())
    .NoGradient();

}  // namespace
}  // namespace tandem
