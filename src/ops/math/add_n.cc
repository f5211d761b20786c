// AddN and AccumulateNV2: the sum of several tensors of one shape.
#include <algorithm>
#include <complex>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/math/binary.h"
#include "ops/math/low_precision.h"

namespace tandem {
namespace {

struct Plus {
  static constexpr bool kWraps = true;
  template <typename T>
  T operator()(const T& x, const T& y) const {
    return x + y;
  }
};

struct AddN {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    const Tensor& first = ctx.input(0);
    const int count = ctx.num_inputs();
    for (int i = 1; i < count; ++i) {
      if (ctx.input(i).shape() != first.shape()) {
        return InvalidArgument("Inputs to operation ", ctx.node_name(), " of type AddN must have the same size and shape.  Input 0: ", first.shape().ToString(),
                               " != input ", i, ": ", ctx.input(i).shape().ToString());
      }
    }
    if (count == 1) {
      ctx.set_output(0, first);
      return OkStatus();
    }
    // Input 0 only: the others are read after the first writes.
    ASSIGN_OR_RETURN(Tensor * sum, ctx.ForwardOrAllocate({0}, 0, first.shape()));
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      AddWidened(ctx, sum);
    } else {
      Add<typename ComputeTypeOf<Plus, T>::type>(ctx, sum);
    }
    return OkStatus();
  }

  // Piece by piece, so that the running sum stays in the cache however many tensors there are.
  static constexpr int64_t kPiece = 2048;

  template <typename C>
  static void Add(KernelContext& ctx, Tensor* sum) {
    C* out = static_cast<C*>(sum->mutable_raw_data());
    const int64_t size = sum->num_elements();
    for (int64_t start = 0; start < size; start += kPiece) {
      const auto piece = [&](int i) { return static_cast<const C*>(ctx.input(i).raw_data()) + start; };
      BinaryLoop loop{piece(0), piece(1), out + start, 1, std::min(kPiece, size - start), 0, 0, false, false};
      RunBinaryLoop<Plus, C>(loop);
      loop.x = out + start;
      for (int i = 2; i < ctx.num_inputs(); ++i) {
        loop.y = piece(i);
        RunBinaryLoop<Plus, C>(loop);
      }
    }
  }

  static void AddWidened(KernelContext& ctx, Tensor* sum) {
    float total[kPiece], next[kPiece];
    const DataType type = sum->dtype();
    const int64_t size = sum->num_elements();
    for (int64_t start = 0; start < size; start += kPiece) {
      const int64_t length = std::min(kPiece, size - start);
      const auto piece = [&](int i) { return static_cast<const uint16_t*>(ctx.input(i).raw_data()) + start; };
      WidenToFloat(type, piece(0), total, length);
      for (int i = 1; i < ctx.num_inputs(); ++i) {
        WidenToFloat(type, piece(i), next, length);
        RunBinaryLoop<Plus, float>({total, next, total, 1, length, 0, 0, false, false});
      }
      NarrowFromFloat(total, type, static_cast<uint16_t*>(sum->mutable_raw_data()) + start, length);
    }
  }
};

Status SameShapes(ShapeContext& ctx) {
  PartialShape shape = ctx.input(0);
  for (int i = 1; i < ctx.num_inputs(); ++i) {
    ASSIGN_OR_RETURN(shape, PartialShape::Merge(shape, ctx.input(i)));
  }
  ctx.set_output(0, shape);
  return OkStatus();
}

Status AddNGradient(GradientScope& g) { return g.Return(std::vector<Output>(g.num_inputs(), g.grad(0))); }

OpBuilder SumOp(const char* name) {
  return OpBuilder(name)
      .Input("inputs: N * T")
      .Output("sum: T")
      .Attr("N: int >= 1")
      .Commutative()
      .Aggregate()
      .Shape(SameShapes)
      .Cpu(ForArithmetic<AddN>())
      .Gradient(AddNGradient);
}

const OpRegistrar kOps[] = {
    SumOp("AddN").Attr(
        "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, variant, "
        "uint32, uint64}"),
    SumOp("AccumulateNV2").Attr("T: NUM").Attr("shape: shape"),
};

}  // namespace
}  // namespace tandem
