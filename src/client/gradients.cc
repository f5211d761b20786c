#include "client/gradients.h"

#include <vector>

#include "graph/gradient.h"
#include "graph/node.h"
#include "tandem/error.h"
#include "tandem/gradients.h"
#include "tandem/ops.h"

namespace tandem {
namespace {

// Gradients flow only through numbers that can vary continuously, and through handles, whose gradient is that of what they hold.
bool CarriesGradient(const Output& output) { return IsFloating(output.dtype()) || IsComplex(output.dtype()) || output.dtype() == kResource; }

// An op without a gradient stops it only if it says so.
bool Stops(const Node& node) { return node.op != nullptr && node.op->is_not_differentiable && node.op_name() != "ReadVariableOp"; }

class Backpropagation {
 public:
  Backpropagation(Graph& graph, const OutputList& xs) : graph_(graph), xs_(xs), on_path_(graph.nodes().size()), pending_(graph.nodes().size()), received_(graph.nodes().size()) {}

  // Marks the nodes that lie between an x and a y, and counts for each how many consumers on the way will send it a gradient.
  void FindPaths(const OutputList& ys) {
    const std::vector<bool> from_x = ReachableFromXs();
    std::vector<Node*> stack;
    auto visit = [&](Node* node) {
      if (from_x[node->id] && !on_path_[node->id]) {
        on_path_[node->id] = true;
        stack.push_back(node);
      }
    };
    for (const Output& y : ys) visit(y.node);
    while (!stack.empty()) {
      Node* node = stack.back();
      stack.pop_back();
      if (Stops(*node)) continue;
      for (const Output& input : node->inputs) {
        if (!CarriesGradient(input) || !from_x[input.node->id]) continue;
        ++pending_[input.node->id];
        visit(input.node);
      }
    }
  }

  void Receive(const Output& output, const Output& gradient) {
    auto& by_output = received_[output.node->id];
    if (by_output.empty()) by_output.resize(output.node->output_types.size());
    by_output[output.index].push_back(gradient);
  }

  Status Run(const OutputList& ys) {
    std::vector<Node*> ready;
    std::vector<bool> is_started(on_path_.size());
    auto start_if_ready = [&](Node* node) {
      if (pending_[node->id] == 0 && !is_started[node->id]) {
        is_started[node->id] = true;
        ready.push_back(node);
      }
    };
    for (const Output& y : ys) {
      if (on_path_[y.node->id]) start_if_ready(y.node);
    }
    while (!ready.empty()) {
      Node* node = ready.back();
      ready.pop_back();
      OutputList input_gradients(node->inputs.size());
      RETURN_IF_ERROR(Differentiate(node, &input_gradients));
      if (Stops(*node)) continue;
      for (size_t i = 0; i < node->inputs.size(); ++i) {
        const Output& input = node->inputs[i];
        if (!CarriesGradient(input) || !on_path_[input.node->id]) continue;
        if (input_gradients[i].is_valid()) Receive(input, input_gradients[i]);
        --pending_[input.node->id];
        start_if_ready(input.node);
      }
    }
    return OkStatus();
  }

  // The sum of what `output` received; invalid if nothing.
  StatusOr<Output> Sum(const Output& output) {
    auto& by_output = received_[output.node->id];
    if (by_output.empty()) return Output();
    std::vector<Output>& parts = by_output[output.index];
    if (parts.size() > 1) {
      ASSIGN_OR_RETURN(Operation sum, graph_.TryAddNode({.op = "AddN", .inputs = parts}));
      parts = {sum.output()};
    }
    return parts.empty() ? Output() : parts[0];
  }

 private:
  std::vector<bool> ReachableFromXs() const {
    const Consumers consumers = FindConsumers(graph_);
    std::vector<bool> reached(on_path_.size());
    std::vector<Node*> stack;
    for (const Output& x : xs_) {
      if (!reached[x.node->id]) stack.push_back(x.node);
      reached[x.node->id] = true;
    }
    while (!stack.empty()) {
      Node* node = stack.back();
      stack.pop_back();
      for (const Consumers::Edge& edge : consumers.by_node[node->id]) {
        if (edge.input < 0 || reached[edge.to->id] || Stops(*edge.to) || !CarriesGradient(Output(node, edge.output))) continue;
        reached[edge.to->id] = true;
        stack.push_back(edge.to);
      }
    }
    return reached;
  }

  bool LeadsOn(const Node& node) const {
    for (const Output& input : node.inputs) {
      if (CarriesGradient(input) && on_path_[input.node->id]) return true;
    }
    return false;
  }

  Status Differentiate(Node* node, OutputList* input_gradients) {
    OutputList gradients(node->output_types.size());
    bool has_any = false;
    for (size_t i = 0; i < gradients.size(); ++i) {
      ASSIGN_OR_RETURN(gradients[i], Sum(Output(node, static_cast<int>(i))));
      has_any = has_any || gradients[i].is_valid();
    }
    if (!has_any || Stops(*node) || !LeadsOn(*node)) return OkStatus();
    if (node->op_name() == "ReadVariableOp") {  // the gradient of a handle is that of the value
      (*input_gradients)[0] = gradients[0];
      return OkStatus();
    }
    if (node->op == nullptr || node->op->gradient == nullptr) {
      return InvalidArgument("op ", node->op_name(), " of node '", node->name(), "' has no gradient");
    }
    NameScope scope(graph_, node->name() + "_grad");
    GradientScope gradient(graph_, *node, gradients);
    RETURN_IF_ERROR(Annotate(node->op->gradient(gradient), absl::StrCat("gradient of node '", node->name(), "' (op: ", node->op_name(), ")")));
    if (gradient.result().size() != node->inputs.size()) {
      return Internal("the gradient of op ", node->op_name(), " gives ", gradient.result().size(), " values for ", node->inputs.size(), " inputs");
    }
    *input_gradients = gradient.result();
    return OkStatus();
  }

  Graph& graph_;
  const OutputList& xs_;
  std::vector<bool> on_path_;
  std::vector<int> pending_;
  std::vector<std::vector<std::vector<Output>>> received_;  // by node id and output
};

// The gradient that starts at y: ones of its shape.
StatusOr<Output> OnesFor(const Output& y) {
  Graph& graph = y.graph();
  Tensor one(1.0f);
  ASSIGN_OR_RETURN(Operation value, graph.TryAddNode({.op = "Const", .name = "grad_ys", .attrs = {{"value", AttrValue(one)}, {"dtype", kFloat}}}));
  Output made = value.output();
  if (y.dtype() != kFloat) {
    ASSIGN_OR_RETURN(Operation cast, graph.TryAddNode({.op = "Cast", .inputs = {made}, .attrs = {{"DstT", y.dtype()}}}));
    made = cast.output();
  }
  if (y.shape().has_rank() && y.shape().rank() == 0) return made;
  ASSIGN_OR_RETURN(Operation shape, graph.TryAddNode({.op = "Shape", .inputs = {y}}));
  ASSIGN_OR_RETURN(Operation fill, graph.TryAddNode({.op = "Fill", .inputs = {shape.output(), made}}));
  return fill.output();
}

Status CheckArguments(const OutputList& ys, const OutputList& xs, const OutputList& grad_ys) {
  if (ys.empty() || xs.empty()) return InvalidArgument("gradients need at least one y and one x");
  if (!grad_ys.empty() && grad_ys.size() != ys.size()) return InvalidArgument(grad_ys.size(), " gradients are given for ", ys.size(), " ys");
  for (const OutputList* list : {&ys, &xs}) {
    for (const Output& output : *list) {
      if (!output.is_valid()) return InvalidArgument("a y or x of gradients is not set");
      if (&output.graph() != &ys[0].graph()) return InvalidArgument(output.name(), " belongs to another graph than ", ys[0].name());
    }
  }
  for (const Output& y : ys) {
    if (!IsFloating(y.dtype()) && !IsComplex(y.dtype())) return InvalidArgument(y.name(), " has type ", DataTypeName(y.dtype()), ", which has no derivative");
  }
  return OkStatus();
}

}  // namespace

StatusOr<OutputList> AddGradients(const OutputList& ys, const OutputList& xs, const OutputList& grad_ys) {
  RETURN_IF_ERROR(CheckArguments(ys, xs, grad_ys));
  Graph& graph = ys[0].graph();
  Backpropagation back(graph, xs);
  back.FindPaths(ys);
  NameScope scope(graph, "gradients");
  for (size_t i = 0; i < ys.size(); ++i) {
    Output start = grad_ys.empty() ? Output() : grad_ys[i];
    if (!start.is_valid()) {
      ASSIGN_OR_RETURN(start, OnesFor(ys[i]));
    }
    back.Receive(ys[i], start);
  }
  RETURN_IF_ERROR(back.Run(ys));
  OutputList results;
  for (const Output& x : xs) {
    ASSIGN_OR_RETURN(Output sum, back.Sum(x));
    results.push_back(sum);
  }
  return results;
}

OutputList Gradients(const OutputList& ys, const OutputList& xs, const OutputList& grad_ys) { return ValueOrThrow(AddGradients(ys, xs, grad_ys)); }

OutputList ClipByGlobalNorm(const OutputList& gradients, float max_norm) {
  OutputList squares;
  for (const Output& gradient : gradients) {
    if (gradient.is_valid()) squares.push_back(ReduceSum(Square(gradient)));
  }
  if (squares.empty()) return gradients;
  NameScope scope(squares[0].graph(), "clip_by_global_norm");
  Output norm = Sqrt(AddN(squares), "global_norm");
  // max_norm / max(norm, max_norm) is 1 while the norm is small enough.
  Output scale = max_norm / Maximum(norm, OnesLike(norm) * max_norm);
  OutputList clipped;
  for (const Output& gradient : gradients) clipped.push_back(gradient.is_valid() ? gradient * Cast(scale, gradient.dtype()) : gradient);
  return clipped;
}

}  // namespace tandem
