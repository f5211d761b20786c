// The ops that programs use most, with the defaults that people expect. Every other op is in tandem/raw_ops.h, as
// tandem::ops::<OpName>. All of these throw tandem::Error when the inputs do not fit. A name may be given last; it is made unique.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tandem/graph.h"

namespace tandem {

// ---- values -------------------------------------------------------------------------------------------------------------

Output Const(Graph& graph, const Tensor& value, absl::string_view name = "Const");
// Fed in each run. `{}` for a shape that is not known at all.
Output Placeholder(Graph& graph, DataType dtype, const PartialShape& shape = {}, absl::string_view name = "Placeholder");
Output PlaceholderWithDefault(const Output& value, const PartialShape& shape, absl::string_view name = "PlaceholderWithDefault");
Output Fill(Graph& graph, const Shape& shape, const Tensor& scalar, absl::string_view name = "Fill");
Output Zeros(Graph& graph, const Shape& shape, DataType dtype = kFloat, absl::string_view name = "zeros");
Output Ones(Graph& graph, const Shape& shape, DataType dtype = kFloat, absl::string_view name = "ones");
Output ZerosLike(const Output& x, absl::string_view name = "zeros_like");
Output OnesLike(const Output& x, absl::string_view name = "ones_like");

// ---- random numbers -----------------------------------------------------------------------------------------------------
// With equal seeds the numbers are TensorFlow's. `seed` 0 and no graph seed (Graph::set_seed): other numbers in each process.

struct NormalOptions {
  float mean = 0;
  float stddev = 1;
  DataType dtype = kFloat;
  int64_t seed = 0;
};
struct UniformOptions {
  double low = 0;
  double high = 1;  // not included
  DataType dtype = kFloat;
  int64_t seed = 0;
};
Output RandomNormal(Graph& graph, const Shape& shape, const NormalOptions& options = {}, absl::string_view name = "random_normal");
// Values further from the mean than two standard deviations are drawn again.
Output TruncatedNormal(Graph& graph, const Shape& shape, const NormalOptions& options = {}, absl::string_view name = "truncated_normal");
Output RandomUniform(Graph& graph, const Shape& shape, const UniformOptions& options = {}, absl::string_view name = "random_uniform");
// The rows of `x` in random order.
Output RandomShuffle(const Output& x, int64_t seed = 0, absl::string_view name = "RandomShuffle");

// ---- arithmetic, with broadcasting as in NumPy ----------------------------------------------------------------------------

Output Add(const Output& a, const Output& b, absl::string_view name = "add");
Output Sub(const Output& a, const Output& b, absl::string_view name = "sub");
Output Mul(const Output& a, const Output& b, absl::string_view name = "mul");
Output Div(const Output& a, const Output& b, absl::string_view name = "truediv");
Output Maximum(const Output& a, const Output& b, absl::string_view name = "Maximum");
Output Minimum(const Output& a, const Output& b, absl::string_view name = "Minimum");
Output Pow(const Output& a, const Output& b, absl::string_view name = "Pow");
Output Neg(const Output& x, absl::string_view name = "Neg");
Output Abs(const Output& x, absl::string_view name = "Abs");
Output Square(const Output& x, absl::string_view name = "Square");
Output Sqrt(const Output& x, absl::string_view name = "Sqrt");
Output Exp(const Output& x, absl::string_view name = "Exp");
Output Log(const Output& x, absl::string_view name = "Log");
Output Tanh(const Output& x, absl::string_view name = "Tanh");
Output Sigmoid(const Output& x, absl::string_view name = "Sigmoid");
Output AddN(const OutputList& xs, absl::string_view name = "AddN");

// A number takes the type of the other side.
inline Output operator+(const Output& a, const Output& b) { return Add(a, b); }
inline Output operator-(const Output& a, const Output& b) { return Sub(a, b); }
inline Output operator*(const Output& a, const Output& b) { return Mul(a, b); }
inline Output operator/(const Output& a, const Output& b) { return Div(a, b); }
inline Output operator-(const Output& x) { return Neg(x); }
Output operator+(const Output& a, double b);
Output operator-(const Output& a, double b);
Output operator*(const Output& a, double b);
Output operator/(const Output& a, double b);
Output operator+(double a, const Output& b);
Output operator-(double a, const Output& b);
Output operator*(double a, const Output& b);
Output operator/(double a, const Output& b);

Output Equal(const Output& a, const Output& b, absl::string_view name = "Equal");
Output NotEqual(const Output& a, const Output& b, absl::string_view name = "NotEqual");
Output Less(const Output& a, const Output& b, absl::string_view name = "Less");
Output Greater(const Output& a, const Output& b, absl::string_view name = "Greater");

// ---- reductions: over `axes` (negative ones count from the end), or over all if there are none -----------------------------

Output ReduceSum(const Output& x, const std::vector<int32_t>& axes = {}, bool keep_dims = false, absl::string_view name = "Sum");
Output ReduceMean(const Output& x, const std::vector<int32_t>& axes = {}, bool keep_dims = false, absl::string_view name = "Mean");
Output ReduceMax(const Output& x, const std::vector<int32_t>& axes = {}, bool keep_dims = false, absl::string_view name = "Max");
Output ReduceMin(const Output& x, const std::vector<int32_t>& axes = {}, bool keep_dims = false, absl::string_view name = "Min");
// The index of the largest value along `axis`.
Output ArgMax(const Output& x, int axis, DataType output_type = kInt64, absl::string_view name = "ArgMax");

// ---- neural networks --------------------------------------------------------------------------------------------------------

struct MatMulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
};
Output MatMul(const Output& a, const Output& b, const MatMulOptions& options = {}, absl::string_view name = "MatMul");
// Adds the vector `bias` to the last dimension of `x`.
Output BiasAdd(const Output& x, const Output& bias, absl::string_view name = "BiasAdd");
Output Relu(const Output& x, absl::string_view name = "Relu");
Output Softmax(const Output& logits, absl::string_view name = "Softmax");
// One loss per row of `logits` [n, classes]; `labels` [n] are class numbers, int32 or int64.
Output SparseSoftmaxCrossEntropyWithLogits(const Output& logits, const Output& labels, absl::string_view name = "SparseSoftmaxCrossEntropyWithLogits");
// `labels` are distributions over the classes, as large as `logits`.
Output SoftmaxCrossEntropyWithLogits(const Output& logits, const Output& labels, absl::string_view name = "SoftmaxCrossEntropyWithLogits");

// ---- shape and type -----------------------------------------------------------------------------------------------------------

// Adds nothing if x has that type already.
Output Cast(const Output& x, DataType dtype, absl::string_view name = "Cast");
// One size may be -1: it is worked out.
Output Reshape(const Output& x, const std::vector<int32_t>& shape, absl::string_view name = "Reshape");
Output Transpose(const Output& x, const std::vector<int32_t>& permutation, absl::string_view name = "transpose");
Output ShapeOf(const Output& x, DataType dtype = kInt32, absl::string_view name = "Shape");
Output Concat(const OutputList& xs, int axis, absl::string_view name = "concat");
// Joins along a new dimension.
Output Stack(const OutputList& xs, int axis = 0, absl::string_view name = "stack");
Output Gather(const Output& params, const Output& indices, int axis = 0, absl::string_view name = "GatherV2");
Output Identity(const Output& x, absl::string_view name = "Identity");
// The same value, but no gradient flows through it.
Output StopGradient(const Output& x, absl::string_view name = "StopGradient");

// ---- running things -------------------------------------------------------------------------------------------------------------

Operation NoOp(Graph& graph, absl::string_view name = "NoOp");
// Runs all of them.
Operation Group(Graph& graph, const std::vector<Operation>& operations, absl::string_view name = "group_deps");

}  // namespace tandem
