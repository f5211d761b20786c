// Reads checkpoints of the V1 format, which TensorFlow wrote before 0.12: the tensors are values of a table. Read only.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "checkpoint/table.h"
#include "checkpoint/tensor_slice.h"
#include "core/status.h"
#include "tandem/tensor.h"

namespace tandem {

// Any thread.
class V1Reader {
 public:
  // `files`: one name, or that of a sharded checkpoint, <base>-?????-of-NNNNN, where ? stands for a digit; nothing else in it is a
  // pattern. NotFound if there is no such file, DataLoss if one is not a table.
  static StatusOr<std::unique_ptr<V1Reader>> Open(absl::string_view files);

  struct Variable {
    DataType dtype = kInvalid;
    Shape shape;
    std::vector<std::pair<TensorSlice, const TableReader*>> slices;
  };
  const std::map<std::string, Variable>& variables() const { return variables_; }

  bool Contains(absl::string_view name) const { return variables_.count(std::string(name)) > 0; }
  // NotFound if it is not there.
  StatusOr<const Variable*> Lookup(absl::string_view name) const;
  // InvalidArgument if no stored part holds some of it.
  StatusOr<Tensor> ReadSlice(absl::string_view name, const TensorSlice& slice) const;
  StatusOr<Tensor> Read(absl::string_view name) const;

 private:
  Status AddFile(const std::string& path);

  std::string files_;
  std::vector<std::unique_ptr<TableReader>> tables_;
  std::map<std::string, Variable> variables_;
};

}  // namespace tandem
