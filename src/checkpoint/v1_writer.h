// Writes checkpoints of the V1 format, byte for byte as TensorFlow does, for clients whose Saver still asks for them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "checkpoint/tensor_slice.h"
#include "core/status.h"
#include "tandem/tensor.h"

namespace tandem {

// Keeps everything in memory until Finish. One thread at a time.
class V1Writer {
 public:
  explicit V1Writer(absl::string_view path) : path_(path) {}

  // A slice of the variable `name` of shape `full`; TensorSlice::Whole for all of it. InvalidArgument if it was added before or does not
  // fit what was, Unimplemented for types that cannot be saved, ResourceExhausted above 2 GB.
  Status Add(absl::string_view name, const Shape& full, const TensorSlice& slice, const Tensor& tensor);
  // Writes under a temporary name and renames.
  Status Finish();

 private:
  struct Variable {
    std::string name;
    DataType dtype = kInvalid;
    Shape shape;
    std::vector<TensorSlice> slices;
  };

  const std::string path_;
  std::vector<Variable> variables_;              // in the order in which they came
  std::map<std::string, std::string> entries_;   // by key, as the table wants them
};

}  // namespace tandem
