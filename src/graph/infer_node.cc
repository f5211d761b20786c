#include "graph/infer_node.h"

#include <string>

#include "absl/container/flat_hash_map.h"
#include "graph/shape_inference.h"

namespace tandem {
namespace {

// Larger constants are not worth decoding for a shape.
constexpr int64_t kMaxConstantElements = 64;

// How many inputs an argument takes, given the attrs so far; -1 if an attr that is not set yet decides.
int ArgLength(const ArgDef& arg, const tensorflow::NodeDef& def) {
  if (!arg.number_attr.empty()) {
    auto found = def.attr().find(arg.number_attr);
    return found == def.attr().end() ? -1 : static_cast<int>(found->second.i());
  }
  if (!arg.type_list_attr.empty()) {
    auto found = def.attr().find(arg.type_list_attr);
    return found == def.attr().end() ? -1 : found->second.list().type_size();
  }
  return 1;
}

Tensor IntegerTensor(DataType dtype, const Shape& shape, absl::Span<const int64_t> values) {
  if (dtype == kInt64) return Tensor::Of<int64_t>(shape, values);
  Tensor made(kInt32, shape);
  for (size_t i = 0; i < values.size(); ++i) made.mutable_data<int32_t>()[i] = static_cast<int32_t>(values[i]);
  return made;
}

// A graph may be a chain of any length: looking further back costs more than it tells.
constexpr int kMaxConstantDepth = 8;
Tensor ConstantValueWithin(const Output& output, int depth);

Tensor PackedConstants(const Node& node, int depth) {
  if (node.attrs().GetInt("axis") != 0) return Tensor();
  std::vector<int64_t> values;
  for (const Output& input : node.inputs) {
    Tensor value = ConstantValueWithin(input, depth);
    if (!value.has_value() || !value.shape().is_scalar() || (value.dtype() != kInt32 && value.dtype() != kInt64)) return Tensor();
    values.push_back(value.dtype() == kInt32 ? value.scalar<int32_t>() : value.scalar<int64_t>());
  }
  return IntegerTensor(BaseType(node.output_types[0]), Shape{static_cast<int64_t>(values.size())}, values);
}

Tensor ConstantValueWithin(const Output& output, int depth) {
  if (depth == 0) return Tensor();
  const Node& node = *output.node;
  const std::string& op = node.op_name();
  if (op == "Const") {
    if (node.output_shapes.empty() || !node.output_shapes[0].is_fully_known() || node.output_shapes[0].num_elements() > kMaxConstantElements) return Tensor();
    StatusOr<Tensor> value = node.attrs().GetTensor("value");
    // A broken constant is reported where it runs.
    return value.ok() && value->dtype() == node.output_types[0] ? *std::move(value) : Tensor();
  }
  if (op == "Identity") return ConstantValueWithin(node.inputs[0], depth - 1);
  if (op == "Pack") return PackedConstants(node, depth - 1);
  if (op != "Shape" && op != "Size" && op != "Rank") return Tensor();
  const PartialShape& shape = node.inputs[0].shape();
  const DataType dtype = BaseType(node.output_types[0]);
  if (op == "Rank") return shape.has_rank() ? IntegerTensor(dtype, Shape(), {shape.rank()}) : Tensor();
  if (!shape.is_fully_known()) return Tensor();
  if (op == "Size") return IntegerTensor(dtype, Shape(), {shape.num_elements()});
  return IntegerTensor(dtype, Shape{shape.rank()}, shape.dims());
}

}  // namespace

Status InferAttrsFromInputs(const OpDef& op, const std::vector<Output>& inputs, tensorflow::NodeDef* def) {
  // The length of one attr can be told from the number of inputs: all arguments that it rules are equally long.
  int known = 0, unknown = 0;
  std::string open_attr;
  for (const ArgDef& arg : op.inputs) {
    const int length = ArgLength(arg, *def);
    if (length >= 0) {
      known += length;
      continue;
    }
    const std::string& attr = arg.number_attr.empty() ? arg.type_list_attr : arg.number_attr;
    if (!open_attr.empty() && attr != open_attr) return InvalidArgument("attr ", attr, " must be given: the inputs alone do not tell it");
    open_attr = attr;
    ++unknown;
  }
  const int given = static_cast<int>(inputs.size());
  if (given < known || (unknown == 0 && given != known) || (unknown > 0 && (given - known) % unknown != 0)) {
    return InvalidArgument("the op takes ", known, unknown > 0 ? " or more" : "", " inputs, ", given, " were given");
  }
  const int open_length = unknown > 0 ? (given - known) / unknown : 0;
  int at = 0;
  for (const ArgDef& arg : op.inputs) {
    int length = ArgLength(arg, *def);
    if (length < 0) length = open_length;
    if (!arg.number_attr.empty()) {
      if (!def->attr().contains(arg.number_attr)) (*def->mutable_attr())[arg.number_attr].set_i(length);
    } else if (!arg.type_list_attr.empty() && !def->attr().contains(arg.type_list_attr)) {
      auto* list = (*def->mutable_attr())[arg.type_list_attr].mutable_list();
      for (int i = 0; i < length; ++i) list->add_type(static_cast<tensorflow::DataType>(inputs[at + i].dtype()));
    }
    if (!arg.type_attr.empty() && length > 0 && !def->attr().contains(arg.type_attr)) {
      (*def->mutable_attr())[arg.type_attr].set_type(static_cast<tensorflow::DataType>(inputs[at].dtype()));
    }
    at += length;
  }
  return OkStatus();
}

Status CheckInputTypes(const Node& node) {
  if (node.inputs.size() != node.input_types.size()) {
    return InvalidArgument("the op takes ", node.input_types.size(), " inputs, ", node.inputs.size(), " were given");
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const DataType given = node.inputs[i].node->output_types[node.inputs[i].index];
    const DataType wanted = node.input_types[i];
    if (given == wanted || (IsRef(given) && BaseType(given) == wanted)) continue;
    return InvalidArgument("Input ", i, " was passed ", DataTypeName(given), " from ", node.inputs[i].name(), " incompatible with expected ",
                           DataTypeName(wanted), ".");
  }
  return OkStatus();
}

Tensor ConstantValue(const Output& output) { return ConstantValueWithin(output, kMaxConstantDepth); }

Status InferShapes(Node* node) {
  node->output_shapes.assign(node->output_types.size(), PartialShape());
  if (node->op == nullptr || !node->op->shape) return OkStatus();
  std::vector<PartialShape> shapes;
  std::vector<Tensor> constants;
  for (const Output& input : node->inputs) {
    shapes.push_back(input.shape());
    const DataType dtype = input.dtype();
    constants.push_back(dtype == kInt32 || dtype == kInt64 ? ConstantValue(input) : Tensor());
  }
  const Attrs attrs = node->attrs();
  ShapeContext context(attrs, std::move(shapes), std::move(constants), static_cast<int>(node->output_types.size()));
  RETURN_IF_ERROR(node->op->shape(context));
  node->output_shapes = context.outputs();
  return OkStatus();
}

}  // namespace tandem
