// Comparisons and logic: results are bool.
#include <cmath>
#include <complex>
#include <string>

#include "ops/math/binary.h"
#include "ops/math/unary.h"

namespace tandem {
namespace {

struct IsLess {
  template <typename T>
  bool operator()(T x, T y) const {
    return x < y;
  }
};
struct IsLessOrEqual {
  template <typename T>
  bool operator()(T x, T y) const {
    return x <= y;
  }
};
struct IsEqual {
  static constexpr bool kWraps = true;  // the same for signed and unsigned
  template <typename T>
  bool operator()(const T& x, const T& y) const {
    return x == y;
  }
};
struct IsNotEqual {
  static constexpr bool kWraps = true;
  template <typename T>
  bool operator()(const T& x, const T& y) const {
    return x != y;
  }
};
struct Both {
  bool operator()(bool x, bool y) const { return x & y; }
};
struct Either {
  bool operator()(bool x, bool y) const { return x | y; }
};
struct Not {
  bool operator()(bool x) const { return !x; }
};

OpBuilder ComparisonOp(const char* name) { return OpBuilder(name).Input("x: T").Input("y: T").Output("z: bool").Attr("T: REAL").Shape(Broadcast).NoGradient(); }

// Without an error for shapes that do not fit, the result may also be a scalar; then only known, fitting shapes tell anything.
Status EqualityShape(ShapeContext& ctx) {
  if (ctx.attrs().GetBool("incompatible_shape_error")) return Broadcast(ctx);
  if (!ctx.input(0).is_fully_known() || !ctx.input(1).is_fully_known()) return OkStatus();
  StatusOr<PartialShape> shape = BroadcastShapes(ctx.input(0), ctx.input(1));
  ctx.set_output(0, shape.ok() ? *shape : PartialShape::Scalar());
  return OkStatus();
}

template <typename F>
OpBuilder EqualityOp(const char* name, bool result_if_incompatible) {
  return OpBuilder(name)
      .Input("x: T")
      .Input("y: T")
      .Output("z: bool")
      .Attr("T: type")
      .Attr("incompatible_shape_error: bool = true")
      .Commutative()
      .Shape(EqualityShape)
      .Cpu(BinaryKernelsForArithmetic<F>({.result_if_incompatible = result_if_incompatible}))
      .Cpu(BinaryKernels<F, bool, std::string>({.result_if_incompatible = result_if_incompatible}))
      .NoGradient();
}

template <typename F>
OpBuilder LogicalOp(const char* name) {
  return OpBuilder(name)
      .Input("x: bool")
      .Input("y: bool")
      .Output("z: bool")
      .Commutative()
      .Shape(Broadcast)
      .Cpu({"", {{kInvalid, MakeBinaryKernel(&RunBinaryLoop<F, bool>, {})}}})
      .NoGradient();
}

const OpRegistrar kOps[] = {
    EqualityOp<IsEqual>("Equal", false),
    EqualityOp<IsNotEqual>("NotEqual", true),
    ComparisonOp("Less").Cpu(BinaryKernelsForReal<IsLess>()),
    ComparisonOp("LessEqual").Cpu(BinaryKernelsForReal<IsLessOrEqual>()),
    ComparisonOp("Greater").Cpu(BinaryKernelsForReal<IsLess>({.is_swapped = true})),
    ComparisonOp("GreaterEqual").Cpu(BinaryKernelsForReal<IsLessOrEqual>({.is_swapped = true})),
    LogicalOp<Both>("LogicalAnd"),
    LogicalOp<Either>("LogicalOr"),
    OpBuilder("LogicalNot")
        .Input("x: bool")
        .Output("y: bool")
        .Shape(SameAsInput0)
        .Cpu({"", {{kInvalid, MakeUnaryKernel(&RunUnaryLoop<Not, bool>)}}})
        .NoGradient(),
};

}  // namespace
}  // namespace tandem
