// BroadcastGradientArgs: the axes over which the gradients of two operands that were broadcast together must be summed.
#include <algorithm>
#include <vector>

#include "graph/op.h"
#include "graph/shape_inference.h"

namespace tandem {
namespace {

struct BroadcastGradientArgs {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    const Tensor& s0 = ctx.input(0);
    const Tensor& s1 = ctx.input(1);
    for (int i = 0; i < 2; ++i) {
      if (ctx.input(i).shape().rank() != 1) return InvalidArgument("In[", i, "] must be a vector.", ctx.input(i).shape().ToString());
    }
    const int64_t rank = std::max(s0.num_elements(), s1.num_elements());
    if (rank > kMaxRank) return InvalidArgument("a shape of rank ", rank, "; at most ", kMaxRank, " is possible");
    const auto size_of = [rank](const Tensor& shape, int64_t i) {
      const int64_t at = i - (rank - shape.num_elements());
      return at < 0 ? T(1) : shape.data<T>()[at];
    };
    std::vector<T> axes0, axes1;
    // Axes that are 1 in both shapes are summed as well, which changes nothing; equal shapes need no sum at all.
    const bool is_equal = s0.values<T>() == s1.values<T>();
    for (int64_t i = 0; i < rank && !is_equal; ++i) {
      const T a = size_of(s0, i), b = size_of(s1, i);
      if (a != b && a != 1 && b != 1) {
        return InvalidArgument("Incompatible shapes: ", Shape(ToInt64(s0)).ToString(), " vs. ", Shape(ToInt64(s1)).ToString());
      }
      if (a == 1) axes0.push_back(static_cast<T>(i));
      if (b == 1) axes1.push_back(static_cast<T>(i));
    }
    ctx.set_output(0, Tensor::Vector<T>(axes0));
    ctx.set_output(1, Tensor::Vector<T>(axes1));
    return OkStatus();
  }

  static std::vector<int64_t> ToInt64(const Tensor& shape) {
    std::vector<int64_t> sizes;
    for (int64_t i = 0; i < shape.num_elements(); ++i) sizes.push_back(shape.dtype() == kInt32 ? shape.data<int32_t>()[i] : shape.data<int64_t>()[i]);
    return sizes;
  }
};

Status TwoVectors(ShapeContext& ctx) {
  ctx.set_output(0, PartialShape{kUnknownSize});
  ctx.set_output(1, PartialShape{kUnknownSize});
  return OkStatus();
}

DEFINE_OP("BroadcastGradientArgs")
    .Input("s0: T")
    .Input("s1: T")
    .Output("r0: T")
    .Output("r1: T")
    .Attr("T: IDX = int32")
    .Shape(TwoVectors)
    .Cpu(ForTypes<BroadcastGradientArgs, int32_t, int64_t>())
    .NoGradient();

}  // namespace
}  // namespace tandem
