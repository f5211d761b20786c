// Builds one node, argument by argument. Kept out of line so that hundreds of op functions compile fast.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tandem/graph.h"

namespace tandem {

class NodeBuilder {
 public:
  // `name` empty: the op's name.
  NodeBuilder(const char* op, absl::string_view name);

  NodeBuilder& In(const Output& input);
  NodeBuilder& In(const OutputList& inputs);

  NodeBuilder& Set(const char* attr, const char* value);
  NodeBuilder& Set(const char* attr, const std::string& value);
  NodeBuilder& Set(const char* attr, int64_t value);
  NodeBuilder& Set(const char* attr, float value);
  NodeBuilder& Set(const char* attr, bool value);
  NodeBuilder& Set(const char* attr, DataType value);
  NodeBuilder& Set(const char* attr, const PartialShape& value);
  NodeBuilder& Set(const char* attr, const Tensor& value);
  NodeBuilder& Set(const char* attr, const std::vector<std::string>& value);
  NodeBuilder& Set(const char* attr, const std::vector<int64_t>& value);
  NodeBuilder& Set(const char* attr, const std::vector<float>& value);
  NodeBuilder& Set(const char* attr, const std::vector<bool>& value);
  NodeBuilder& Set(const char* attr, const std::vector<DataType>& value);
  NodeBuilder& Set(const char* attr, const std::vector<PartialShape>& value);
  NodeBuilder& Set(const char* attr, const std::vector<Tensor>& value);

  NodeBuilder& On(std::string device);
  NodeBuilder& After(const std::vector<Operation>& operations);
  // On the device of `node`, whatever the current scopes say.
  NodeBuilder& With(const Operation& node);

  // Throws tandem::Error. Without a graph, in the graph of the first input, of which there must be one.
  Operation Build();
  Operation Build(Graph& graph);

 private:
  NodeSpec spec_;
  Operation colocate_;
};

// The outputs of `operation` from *next on, `count` of them; moves *next past them.
OutputList TakeOutputs(const Operation& operation, int count, int* next);
// How many tensors an output list holds: the value of its number attr, or the length of its list(type) attr.
int OutputListLength(const Operation& operation, const char* attr);

}  // namespace tandem
