// The attrs of one node, as its kernel, shape function and gradient read them. Missing ones have their default.
#pragma once

#include <string>
#include <vector>

#include "core/status.h"
#include "tandem/graph.h"

namespace tensorflow {
class AttrValue;
class NodeDef;
}  // namespace tensorflow

namespace tandem {

// A view; valid as long as the node. Types were checked against the op's definition when the node was made, so a getter of the
// right type for a declared attr always succeeds; any other call is a bug and aborts.
class Attrs {
 public:
  Attrs(const tensorflow::NodeDef& def, absl::Span<const DataType> input_types, absl::Span<const DataType> output_types)
      : def_(&def), input_types_(input_types), output_types_(output_types) {}

  const std::string& node_name() const;
  const std::string& op() const;
  bool Has(absl::string_view name) const;

  std::string GetString(absl::string_view name) const;
  int64_t GetInt(absl::string_view name) const;
  float GetFloat(absl::string_view name) const;
  bool GetBool(absl::string_view name) const;
  DataType GetType(absl::string_view name) const;
  PartialShape GetShape(absl::string_view name) const;
  StatusOr<Tensor> GetTensor(absl::string_view name) const;  // decoded anew at each call; InvalidArgument if the proto is wrong
  std::vector<std::string> GetStrings(absl::string_view name) const;
  std::vector<int64_t> GetInts(absl::string_view name) const;
  std::vector<float> GetFloats(absl::string_view name) const;
  std::vector<bool> GetBools(absl::string_view name) const;
  std::vector<DataType> GetTypes(absl::string_view name) const;
  std::vector<PartialShape> GetShapes(absl::string_view name) const;
  const tensorflow::AttrValue& Raw(absl::string_view name) const;

  absl::Span<const DataType> input_types() const { return input_types_; }    // flattened; ref types where declared
  absl::Span<const DataType> output_types() const { return output_types_; }

  // For a kernel's constructor, which cannot return a status: the node is then refused with it.
  void Fail(Status status) const {
    if (failure_.ok()) failure_ = std::move(status);
  }
  const Status& failure() const { return failure_; }

 private:
  const tensorflow::AttrValue* Find(absl::string_view name) const;

  const tensorflow::NodeDef* def_;
  absl::Span<const DataType> input_types_, output_types_;
  mutable Status failure_;
};

// Between the variant of the public header and the proto.
void AttrToProto(const AttrValue& value, tensorflow::AttrValue* proto);
// Unimplemented for functions and placeholders.
StatusOr<AttrValue> AttrFromProto(const tensorflow::AttrValue& proto);

}  // namespace tandem
