#include "graph/gradient.h"

#include "graph/node.h"

namespace tandem {

GradientScope::GradientScope(Graph& graph, Node& node, std::vector<Output> output_gradients)
    : graph_(graph), node_(node), attrs_(node.attrs()), gradients_(std::move(output_gradients)) {}

int GradientScope::num_inputs() const { return static_cast<int>(node_.inputs.size()); }
Output GradientScope::input(int i) const { return node_.inputs[i]; }
Output GradientScope::output(int i) const { return Output(&node_, i); }

Output GradientScope::grad(int i) {
  if (!gradients_[i].is_valid()) gradients_[i] = Op("ZerosLike", {output(i)});
  return gradients_[i];
}

std::vector<Output> GradientScope::OpList(const std::string& op, std::vector<Output> inputs, std::vector<NamedAttr> attrs) {
  if (!status_.ok()) return {};
  for (const Output& input : inputs) {
    if (!input.is_valid()) {
      status_ = Internal("the gradient of ", node_.name(), " gives op ", op, " an input that is not set");
      return {};
    }
  }
  StatusOr<Operation> made = graph_.TryAddNode({.op = op, .inputs = std::move(inputs), .attrs = std::move(attrs)});
  if (!made.ok()) {
    status_ = made.status();
    return {};
  }
  std::vector<Output> outputs;
  for (int i = 0; i < made->num_outputs(); ++i) outputs.push_back(made->output(i));
  return outputs;
}

Output GradientScope::Op(const std::string& op, std::vector<Output> inputs, std::vector<NamedAttr> attrs) {
  std::vector<Output> outputs = OpList(op, std::move(inputs), std::move(attrs));
  return outputs.empty() ? Output() : outputs[0];
}

Output GradientScope::Scalar(double value, DataType dtype) {
  switch (dtype) {
    case kFloat:
      return Const(Tensor::Scalar(static_cast<float>(value)));
    case kDouble:
      return Const(Tensor::Scalar(value));
    case kInt32:
      return Const(Tensor::Scalar(static_cast<int32_t>(value)));
    case kInt64:
      return Const(Tensor::Scalar(static_cast<int64_t>(value)));
    case kHalf:
      return Const(Tensor::Scalar(Half(static_cast<float>(value))));
    case kBfloat16:
      return Const(Tensor::Scalar(BFloat16(static_cast<float>(value))));
    case kComplex64:
      return Const(Tensor::Scalar(std::complex<float>(static_cast<float>(value))));
    case kComplex128:
      return Const(Tensor::Scalar(std::complex<double>(value)));
    default:
      return Op("Cast", {Const(Tensor::Scalar(value))}, {{"DstT", dtype}});
  }
}

Output GradientScope::ShapeOf(Output x) {
  if (!status_.ok()) return Output();
  const PartialShape& shape = x.shape();
  if (!shape.is_fully_known()) return Op("Shape", {x});
  std::vector<int32_t> sizes(shape.dims().begin(), shape.dims().end());
  return Const(Tensor::Vector<int32_t>(sizes));
}

std::pair<Output, Output> GradientScope::ReduceBroadcast(Output gradient_x, Output gradient_y, Output x, Output y) {
  if (!status_.ok()) return {};
  if (x.shape().is_fully_known() && x.shape() == y.shape()) return {gradient_x, gradient_y};
  Output shape_x = ShapeOf(x), shape_y = ShapeOf(y);
  std::vector<Output> axes = OpList("BroadcastGradientArgs", {shape_x, shape_y});
  if (axes.size() != 2) return {};
  auto reduced = [&](Output gradient, const Output& axis, const Output& shape) {
    if (!gradient.is_valid()) return gradient;
    return Op("Reshape", {Op("Sum", {gradient, axis}), shape});
  };
  return {reduced(gradient_x, axes[0], shape_x), reduced(gradient_y, axes[1], shape_y)};
}

Status GradientScope::Return(std::vector<Output> input_gradients) {
  RETURN_IF_ERROR(status_);
  if (input_gradients.size() != node_.inputs.size()) {
    return Internal("the gradient of op ", node_.op_name(), " gives ", input_gradients.size(), " gradients for ", node_.inputs.size(), " inputs");
  }
  result_ = std::move(input_gradients);
  return OkStatus();
}

}  // namespace tandem
