#include "tandem/ops.h"

#include "client/node_builder.h"
#include "client/number.h"
#include "core/status.h"
#include "graph/node.h"
#include "tandem/error.h"

namespace tandem {
namespace {

Output Unary(const char* op, const Output& x, absl::string_view name) { return NodeBuilder(op, name).In(x).Build().output(); }
Output Binary(const char* op, const Output& a, const Output& b, absl::string_view name) {
  return NodeBuilder(op, name).In(a).In(b).Build().output();
}

Output NumberLike(double value, const Output& like, const char* name) {
  if (!like.is_valid()) throw Error(InvalidArgument("an operand has no value"));
  return Const(like.graph(), NumberTensor(value, like.dtype()), name);
}

// All elements `value`: a Const if that is small, else an op.
Output Repeated(Graph& graph, const Shape& shape, DataType dtype, double value, absl::string_view name) {
  constexpr int64_t kLargestConst = 1000;
  if (shape.num_elements() < kLargestConst) return Const(graph, NumberTensor(value, dtype, shape), name);
  return Fill(graph, shape, NumberTensor(value, dtype), name);
}

Output Reduce(const char* op, const Output& x, const std::vector<int32_t>& axes, bool keep_dims, absl::string_view name) {
  if (!x.is_valid()) throw Error(InvalidArgument("the input of ", op, " '", name, "' has no value"));
  Graph& graph = x.graph();
  const std::string prefix(name);
  Output over;
  if (!axes.empty()) {
    over = Const(graph, Tensor(axes), prefix + "/reduction_indices");
  } else if (x.shape().has_rank()) {
    std::vector<int32_t> all(x.shape().rank());
    for (int i = 0; i < x.shape().rank(); ++i) all[i] = i;
    over = Const(graph, Tensor(all), prefix + "/reduction_indices");
  } else {
    Output rank = NodeBuilder("Rank", prefix + "/rank").In(x).Build().output();
    over = NodeBuilder("Range", prefix + "/range").In(Const(graph, Tensor(0), prefix + "/start")).In(rank).In(Const(graph, Tensor(1), prefix + "/step")).Build().output();
  }
  return NodeBuilder(op, name).In(x).In(over).Set("keep_dims", keep_dims).Build().output();
}

}  // namespace

Output Const(Graph& graph, const Tensor& value, absl::string_view name) {
  if (!value.has_value()) throw Error(InvalidArgument("the tensor for Const '", name, "' has no value"));
  return NodeBuilder("Const", name).Set("value", value).Set("dtype", value.dtype()).Build(graph).output();
}

Output Placeholder(Graph& graph, DataType dtype, const PartialShape& shape, absl::string_view name) {
  return NodeBuilder("Placeholder", name).Set("dtype", dtype).Set("shape", shape).Build(graph).output();
}

Output PlaceholderWithDefault(const Output& value, const PartialShape& shape, absl::string_view name) {
  return NodeBuilder("PlaceholderWithDefault", name).In(value).Set("shape", shape).Build().output();
}

Output Fill(Graph& graph, const Shape& shape, const Tensor& scalar, absl::string_view name) {
  std::vector<int64_t> sizes(shape.dims().begin(), shape.dims().end());
  const std::string prefix(name);
  Output dims = Const(graph, Tensor(sizes), prefix + "/dims");
  return NodeBuilder("Fill", name).In(dims).In(Const(graph, scalar, prefix + "/value")).Build().output();
}

Output Zeros(Graph& graph, const Shape& shape, DataType dtype, absl::string_view name) {
  if (dtype == kString) return Const(graph, Tensor(kString, shape), name);
  return Repeated(graph, shape, dtype, 0, name);
}
Output Ones(Graph& graph, const Shape& shape, DataType dtype, absl::string_view name) { return Repeated(graph, shape, dtype, 1, name); }
Output ZerosLike(const Output& x, absl::string_view name) { return Unary("ZerosLike", x, name); }
Output OnesLike(const Output& x, absl::string_view name) { return Unary("OnesLike", x, name); }

Output Add(const Output& a, const Output& b, absl::string_view name) { return Binary("AddV2", a, b, name); }
Output Sub(const Output& a, const Output& b, absl::string_view name) { return Binary("Sub", a, b, name); }
Output Mul(const Output& a, const Output& b, absl::string_view name) { return Binary("Mul", a, b, name); }
Output Div(const Output& a, const Output& b, absl::string_view name) { return Binary("RealDiv", a, b, name); }
Output Maximum(const Output& a, const Output& b, absl::string_view name) { return Binary("Maximum", a, b, name); }
Output Minimum(const Output& a, const Output& b, absl::string_view name) { return Binary("Minimum", a, b, name); }
Output Pow(const Output& a, const Output& b, absl::string_view name) { return Binary("Pow", a, b, name); }
Output Neg(const Output& x, absl::string_view name) { return Unary("Neg", x, name); }
Output Abs(const Output& x, absl::string_view name) { return Unary("Abs", x, name); }
Output Square(const Output& x, absl::string_view name) { return Unary("Square", x, name); }
Output Sqrt(const Output& x, absl::string_view name) { return Unary("Sqrt", x, name); }
Output Exp(const Output& x, absl::string_view name) { return Unary("Exp", x, name); }
Output Log(const Output& x, absl::string_view name) { return Unary("Log", x, name); }
Output Tanh(const Output& x, absl::string_view name) { return Unary("Tanh", x, name); }
Output Sigmoid(const Output& x, absl::string_view name) { return Unary("Sigmoid", x, name); }
Output AddN(const OutputList& xs, absl::string_view name) { return NodeBuilder("AddN", name).In(xs).Build().output(); }

Output operator+(const Output& a, double b) { return Add(a, NumberLike(b, a, "add/y")); }
Output operator-(const Output& a, double b) { return Sub(a, NumberLike(b, a, "sub/y")); }
Output operator*(const Output& a, double b) { return Mul(a, NumberLike(b, a, "mul/y")); }
Output operator/(const Output& a, double b) { return Div(a, NumberLike(b, a, "truediv/y")); }
Output operator+(double a, const Output& b) { return Add(NumberLike(a, b, "add/x"), b); }
Output operator-(double a, const Output& b) { return Sub(NumberLike(a, b, "sub/x"), b); }
Output operator*(double a, const Output& b) { return Mul(NumberLike(a, b, "mul/x"), b); }
Output operator/(double a, const Output& b) { return Div(NumberLike(a, b, "truediv/x"), b); }

Output Equal(const Output& a, const Output& b, absl::string_view name) { return Binary("Equal", a, b, name); }
Output NotEqual(const Output& a, const Output& b, absl::string_view name) { return Binary("NotEqual", a, b, name); }
Output Less(const Output& a, const Output& b, absl::string_view name) { return Binary("Less", a, b, name); }
Output Greater(const Output& a, const Output& b, absl::string_view name) { return Binary("Greater", a, b, name); }

Output ReduceSum(const Output& x, const std::vector<int32_t>& axes, bool keep_dims, absl::string_view name) { return Reduce("Sum", x, axes, keep_dims, name); }
Output ReduceMean(const Output& x, const std::vector<int32_t>& axes, bool keep_dims, absl::string_view name) { return Reduce("Mean", x, axes, keep_dims, name); }
Output ReduceMax(const Output& x, const std::vector<int32_t>& axes, bool keep_dims, absl::string_view name) { return Reduce("Max", x, axes, keep_dims, name); }
Output ReduceMin(const Output& x, const std::vector<int32_t>& axes, bool keep_dims, absl::string_view name) { return Reduce("Min", x, axes, keep_dims, name); }

Output ArgMax(const Output& x, int axis, DataType output_type, absl::string_view name) {
  if (!x.is_valid()) throw Error(InvalidArgument("the input of ArgMax '", name, "' has no value"));
  Output dimension = Const(x.graph(), Tensor(axis), std::string(name) + "/dimension");
  return NodeBuilder("ArgMax", name).In(x).In(dimension).Set("output_type", output_type).Build().output();
}

Output MatMul(const Output& a, const Output& b, const MatMulOptions& options, absl::string_view name) {
  return NodeBuilder("MatMul", name).In(a).In(b).Set("transpose_a", options.transpose_a).Set("transpose_b", options.transpose_b).Build().output();
}
Output BiasAdd(const Output& x, const Output& bias, absl::string_view name) { return Binary("BiasAdd", x, bias, name); }
Output Relu(const Output& x, absl::string_view name) { return Unary("Relu", x, name); }
Output Softmax(const Output& logits, absl::string_view name) { return Unary("Softmax", logits, name); }
Output SparseSoftmaxCrossEntropyWithLogits(const Output& logits, const Output& labels, absl::string_view name) {
  return Binary("SparseSoftmaxCrossEntropyWithLogits", logits, labels, name);
}
Output SoftmaxCrossEntropyWithLogits(const Output& logits, const Output& labels, absl::string_view name) {
  return Binary("SoftmaxCrossEntropyWithLogits", logits, labels, name);
}

Output Cast(const Output& x, DataType dtype, absl::string_view name) {
  if (x.is_valid() && x.dtype() == dtype) return x;
  return NodeBuilder("Cast", name).In(x).Set("DstT", dtype).Build().output();
}

Output Reshape(const Output& x, const std::vector<int32_t>& shape, absl::string_view name) {
  if (!x.is_valid()) throw Error(InvalidArgument("the input of Reshape '", name, "' has no value"));
  return NodeBuilder("Reshape", name).In(x).In(Const(x.graph(), Tensor(shape), std::string(name) + "/shape")).Build().output();
}

Output Transpose(const Output& x, const std::vector<int32_t>& permutation, absl::string_view name) {
  if (!x.is_valid()) throw Error(InvalidArgument("the input of Transpose '", name, "' has no value"));
  return NodeBuilder("Transpose", name).In(x).In(Const(x.graph(), Tensor(permutation), std::string(name) + "/perm")).Build().output();
}

Output ShapeOf(const Output& x, DataType dtype, absl::string_view name) { return NodeBuilder("Shape", name).In(x).Set("out_type", dtype).Build().output(); }

Output Concat(const OutputList& xs, int axis, absl::string_view name) {
  if (xs.empty() || !xs[0].is_valid()) throw Error(InvalidArgument("Concat '", name, "' needs at least one input"));
  if (xs.size() == 1) return Identity(xs[0], name);  // ConcatV2 wants two
  return NodeBuilder("ConcatV2", name).In(xs).In(Const(xs[0].graph(), Tensor(axis), std::string(name) + "/axis")).Build().output();
}

Output Stack(const OutputList& xs, int axis, absl::string_view name) {
  return NodeBuilder("Pack", name).In(xs).Set("axis", static_cast<int64_t>(axis)).Build().output();
}

Output Gather(const Output& params, const Output& indices, int axis, absl::string_view name) {
  if (!params.is_valid()) throw Error(InvalidArgument("the input of Gather '", name, "' has no value"));
  return NodeBuilder("GatherV2", name).In(params).In(indices).In(Const(params.graph(), Tensor(axis), std::string(name) + "/axis")).Build().output();
}

Output Identity(const Output& x, absl::string_view name) { return Unary("Identity", x, name); }
Output StopGradient(const Output& x, absl::string_view name) { return Unary("StopGradient", x, name); }

Operation NoOp(Graph& graph, absl::string_view name) { return NodeBuilder("NoOp", name).Build(graph); }

Operation Group(Graph& graph, const std::vector<Operation>& operations, absl::string_view name) {
  return NodeBuilder("NoOp", name).After(operations).Build(graph);
}

}  // namespace tandem
