// Where a variable's value lives on its device.
#pragma once

#include <string>
#include <utility>

#include "core/mutex.h"
#include "kernel/resource.h"
#include "tandem/tensor.h"

namespace tandem {

// `mu` guards `value`, the handle; the numbers in its buffer may be changed without it where the op says so (Hogwild).
// Lock for reading with ReaderMutexLock, for assigning with MutexLock.
class VariableStorage : public Resource {
 public:
  explicit VariableStorage(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }  // as in messages: "Attempting to use uninitialized value <name>"

  Mutex mu;
  Tensor value ABSL_GUARDED_BY(mu);  // no value until assigned

  // A handle to the current value, or no value.
  Tensor Snapshot() {
    absl::ReaderMutexLock lock(&mu);
    return value;
  }
  bool is_initialized() {
    absl::ReaderMutexLock lock(&mu);
    return value.has_value();
  }
  std::string Describe() const override {
    absl::ReaderMutexLock lock(&const_cast<VariableStorage*>(this)->mu);
    return value.has_value() ? DataTypeName(value.dtype()) + value.shape().ToString() : "uninitialized";
  }

 private:
  const std::string name_;
};

// Of a reference variable (VariableV2). Readers share its buffer and may see later updates. Nobody but its readers shares the
// buffer: not a constant, a feed or another variable, which an update in place would change with it.
class RefVariable : public VariableStorage {
 public:
  static constexpr char kTypeName[] = "a reference variable";

  using VariableStorage::VariableStorage;
  RefVariable(std::string name, DataType dtype, PartialShape shape) : VariableStorage(std::move(name)), dtype_(dtype), shape_(std::move(shape)) {}

  DataType dtype() const { return dtype_; }              // kInvalid: not declared
  const PartialShape& shape() const { return shape_; }   // as declared: what the first value must fit

 private:
  const DataType dtype_ = kInvalid;
  const PartialShape shape_;
};

// Of a resource variable (VarHandleOp). A tensor that was read never changes: whoever updates the value copies the buffer
// first if it is shared (MakeUnique).
class ResourceVariable : public VariableStorage {
 public:
  static constexpr char kTypeName[] = "a variable";

  using VariableStorage::VariableStorage;

  // Gives the value a buffer of its own, keeping the numbers.
  void MakeUnique() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    if (value.has_value() && !value.is_unique()) value = value.Clone();
  }
};

}  // namespace tandem
