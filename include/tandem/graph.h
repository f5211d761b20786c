// A graph of ops under construction, and the names by which a program speaks of its nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tandem/dtype.h"
#include "tandem/shape.h"
#include "tandem/tensor.h"

namespace tandem {

class Graph;
class Node;

// The value of an attr: what TensorFlow's AttrValue holds, but for functions.
using AttrValue = std::variant<std::string, int64_t, float, bool, DataType, PartialShape, Tensor, std::vector<std::string>, std::vector<int64_t>,
                               std::vector<float>, std::vector<bool>, std::vector<DataType>, std::vector<PartialShape>, std::vector<Tensor>>;

struct NamedAttr {
  NamedAttr(std::string n, AttrValue v) : name(std::move(n)), value(std::move(v)) {}
  NamedAttr(std::string n, const char* v) : name(std::move(n)), value(std::string(v)) {}
  NamedAttr(std::string n, int v) : name(std::move(n)), value(static_cast<int64_t>(v)) {}
  NamedAttr(std::string n, int64_t v) : name(std::move(n)), value(v) {}
  NamedAttr(std::string n, float v) : name(std::move(n)), value(v) {}
  NamedAttr(std::string n, bool v) : name(std::move(n)), value(v) {}
  NamedAttr(std::string n, DataType v) : name(std::move(n)), value(v) {}
  NamedAttr(std::string n, const Shape& v) : name(std::move(n)), value(PartialShape(v)) {}
  std::string name;
  AttrValue value;
};

// One output of a node. A small value that is copied freely; valid as long as its graph.
struct Output {
  Node* node = nullptr;
  int index = 0;

  Output() = default;
  Output(Node* n, int i) : node(n), index(i) {}
  bool is_valid() const { return node != nullptr; }
  DataType dtype() const;              // without the mark of a reference
  bool is_ref() const;
  const PartialShape& shape() const;   // as far as known while building
  std::string name() const;            // "x:0"
  Graph& graph() const;
  bool operator==(const Output& other) const { return node == other.node && index == other.index; }
  bool operator!=(const Output& other) const { return !(*this == other); }
};
using OutputList = std::vector<Output>;

// A node as a whole: something to run, or to wait for.
struct Operation {
  Node* node = nullptr;

  Operation() = default;
  Operation(Node* n) : node(n) {}                        // NOLINT
  Operation(const Output& output) : node(output.node) {} // NOLINT: whoever wants an output run wants its node run
  const std::string& name() const;
  Output output(int i = 0) const { return Output(node, i); }
  int num_outputs() const;
  Graph& graph() const;
  bool is_valid() const { return node != nullptr; }
};

// What a new node shall be. Names in `inputs` are flattened in the op's order.
struct NodeSpec {
  std::string op;
  std::string name;                    // empty: the op's name; made unique within the current name scope
  std::vector<Output> inputs;
  std::vector<NamedAttr> attrs;        // type and number attrs that the inputs imply may be left out, and those with a default
  std::vector<Operation> control_inputs;
  std::string device;                  // empty: the current device scope
};

// Decides the device of a new node: gets its op type, and what it would be without this function.
using DeviceFunction = std::function<std::string(const Node& node, const std::string& device)>;

// Nodes are added, never removed; a node and an Output stay valid as long as the graph. One thread at a time.
// Throws tandem::Error when a node is wrong: unknown op, wrong number or type of inputs, impossible shapes.
class Graph {
 public:
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;

  Operation AddNode(const NodeSpec& spec);
  // The same without throwing, for code that passes errors on.
  absl::StatusOr<Operation> TryAddNode(const NodeSpec& spec);

  // Null if there is none.
  Node* FindNode(absl::string_view name) const;
  // "x:0", or "x" for its output 0. NotFound, or InvalidArgument if the node has no such output.
  absl::StatusOr<Output> FindOutput(absl::string_view name) const;
  const std::vector<std::unique_ptr<Node>>& nodes() const;

  // The serialised GraphDef (proto/graph.proto), which TensorFlow reads.
  std::string ToGraphDef() const;
  // Adds the nodes of a serialised GraphDef, whoever wrote it. `prefix` goes in front of their names ("" for none).
  void ImportGraphDef(absl::string_view serialized, absl::string_view prefix = "");

  // A name not yet taken: `wish`, or `wish_1` …, inside the current name scope.
  std::string UniqueName(absl::string_view wish);

  // Lists of names that a program collects while building: "trainable_variables", "summaries" …
  void AddToCollection(const std::string& collection, const Output& output);
  std::vector<Output> Collection(const std::string& collection) const;

  // Graph-level seed of random ops; see client/random.h. 0: none.
  void set_seed(int64_t seed);
  int64_t seed() const;
  // Ops created so far: the op-level seed that TensorFlow derives from a graph-level one.
  int64_t last_id() const;

  struct State;
  State& state() { return *state_; }
  const State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

// While alive, new nodes of `graph` are called "<name>/…". Made unique like a node's name.
class NameScope {
 public:
  NameScope(Graph& graph, absl::string_view name);
  ~NameScope();
  NameScope(const NameScope&) = delete;
  const std::string& prefix() const { return prefix_; }  // "outer/name/"

 private:
  Graph& graph_;
  std::string saved_, prefix_;
};

// While alive, new nodes of `graph` are placed on `device` (a full or partial name), or where the function says. Inner scopes
// override the parts that they name.
class DeviceScope {
 public:
  DeviceScope(Graph& graph, std::string device);
  DeviceScope(Graph& graph, DeviceFunction function);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;

 private:
  Graph& graph_;
};

// While alive, new nodes of `graph` run after `operations`.
class ControlDependencies {
 public:
  ControlDependencies(Graph& graph, std::vector<Operation> operations);
  ~ControlDependencies();
  ControlDependencies(const ControlDependencies&) = delete;

 private:
  Graph& graph_;
};

// While alive, new nodes of `graph` live on the device of `operation`.
class ColocateWith {
 public:
  ColocateWith(Graph& graph, Operation operation);
  ~ColocateWith();
  ColocateWith(const ColocateWith&) = delete;

 private:
  Graph& graph_;
};

}  // namespace tandem
