// Where: the places of all elements that are not zero, in row-major order.
#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

struct Where {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    int rank = input.shape().rank();
    if (rank == 0) return InvalidArgument("WhereOp : Unhandled input dimensions: 0");
    const T* values = input.data<T>();
    int64_t size = input.num_elements(), count = 0;
    for (int64_t i = 0; i < size; ++i) count += IsTrue(values[i]) ? 1 : 0;
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, Shape{count, rank}));
    int64_t* to = output->mutable_data<int64_t>();
    Strides index(rank, 0);
    for (int64_t i = 0; i < size; ++i) {
      // A variable's buffer may be written meanwhile, so the count may be wrong by now.
      if (IsTrue(values[i]) && count-- > 0) to = std::copy(index.begin(), index.end(), to);
      for (int k = rank - 1; k >= 0 && ++index[k] == input.shape().dim(k); --k) index[k] = 0;
    }
    for (; count > 0; --count) to = std::fill_n(to, rank, 0);
    return OkStatus();
  }

  template <typename T>
  static bool IsTrue(const T& value) {
    return value != T(0);
  }
};

Status WhereShape(ShapeContext& ctx) {
  ctx.set_output(0, PartialShape{kUnknownSize, ctx.input(0).has_rank() ? ctx.input(0).rank() : kUnknownSize});
  return OkStatus();
}

DEFINE_OP("Where")
    .Input("input: T")
    .Output("index: int64")
    .Attr("T: NUM + {bool} = bool")
    .Shape(WhereShape)
    .Cpu(ForTypes<Where, bool, float, double, int32_t, uint8_t, int16_t, int8_t, int64_t, BFloat16, uint16_t, Half, uint32_t, uint64_t,
                  std::complex<float>, std::complex<double>>())
    .NoGradient();

}  // namespace
}  // namespace tandem
