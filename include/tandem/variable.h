// Values that outlive a step: what training changes.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tandem/graph.h"

namespace tandem {

// Names of collections that Tandem fills (Graph::Collection). They hold Variable::handle().
inline constexpr char kGlobalVariables[] = "variables";               // saved and restored
inline constexpr char kTrainableVariables[] = "trainable_variables";  // what optimizers change unless told otherwise
inline constexpr char kLocalVariables[] = "local_variables";          // of this worker alone, neither shared nor saved
inline constexpr char kGlobalStep[] = "global_step";

struct VariableOptions {
  bool trainable = true;
  bool is_local = false;     // into kLocalVariables instead of kGlobalVariables
  bool use_resource = true;  // false: a reference variable (VariableV2), as graphs from TensorFlow 1.x have
};

// A small value that is copied freely; valid as long as its graph. The name is also the key in checkpoints.
class Variable {
 public:
  Variable() = default;  // none: is_valid() is false
  // The shape is that of `initial_value`, which must be known.
  Variable(Graph& graph, const Output& initial_value, absl::string_view name = "Variable", const VariableOptions& options = {});
  // A variable that is in the graph already: `handle` is the output of its VarHandleOp, VariableV2 or Variable node.
  static Variable FromHandle(const Output& handle);
  // All of a collection.
  static std::vector<Variable> Collection(const Graph& graph, const std::string& collection);

  bool is_valid() const { return handle_.is_valid(); }
  const std::string& name() const;
  DataType dtype() const;
  PartialShape shape() const;
  bool is_resource() const;
  Graph& graph() const;
  const Output& handle() const { return handle_; }

  // The value in this step. There is one read per step, however often it is used; nothing orders it and updates.
  Output value() const { return value_; }
  operator Output() const { return value(); }  // NOLINT: a variable is used like the tensor that it holds
  // A read of its own, for use under ControlDependencies.
  Output Read() const;

  Operation initializer() const { return initializer_; }
  // The value that the initializer assigns.
  const Output& initial_value() const { return initial_value_; }
  // A bool: whether it has a value.
  Output IsInitialized() const;

  Operation Assign(const Output& value) const;
  Operation AssignAdd(const Output& delta) const;
  Operation AssignSub(const Output& delta) const;

 private:
  Output handle_, value_, initial_value_;
  Operation initializer_;
};

// The step counter, int64 "global_step": the one of the graph, made if there is none.
Variable GlobalStep(Graph& graph);

// Runs the initializers of all variables in kGlobalVariables or kLocalVariables at the time of the call.
Operation GlobalVariablesInitializer(Graph& graph, absl::string_view name = "init");
Operation LocalVariablesInitializer(Graph& graph, absl::string_view name = "init_local");
// A string vector: names of those that have no value.
Output ReportUninitializedVariables(Graph& graph, const std::vector<Variable>& variables, absl::string_view name = "report_uninitialized_variables");

}  // namespace tandem
