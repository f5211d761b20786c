// Turns gradients into updates of variables.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tandem/graph.h"
#include "tandem/variable.h"

namespace tandem {

struct GradientAndVariable {
  Output gradient;  // invalid: this variable is left alone
  Variable variable;
};

// A rule of update. Slots, the variables that a rule keeps beside each variable, are named as TensorFlow names them ("w/Momentum")
// and live with their variable. All methods throw tandem::Error.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // An operation that makes `loss` smaller by one step and then counts it in `global_step`, if that is given. `variables`: all
  // trainable ones if empty. InvalidArgument if the loss depends on none of them.
  Operation Minimize(const Output& loss, const Variable& global_step = {}, const std::vector<Variable>& variables = {});

  // Minimize in two steps, so that gradients can be changed between them.
  std::vector<GradientAndVariable> ComputeGradients(const Output& loss, const std::vector<Variable>& variables = {});
  Operation ApplyGradients(const std::vector<GradientAndVariable>& gradients, const Variable& global_step = {});

  const std::string& name() const { return name_; }
  // Slot `slot` ("momentum") of a variable; invalid if there is none.
  Variable slot(const Variable& variable, const std::string& slot) const;

 protected:
  explicit Optimizer(std::string name) : name_(std::move(name)) {}

  // Called once per ApplyGradients, before the updates: makes scalars that all of them use.
  virtual void Prepare(Graph& /*graph*/, const std::vector<Variable>& /*variables*/) {}
  // The update of one variable, on its device.
  virtual Operation Apply(const Variable& variable, const Output& gradient) = 0;
  // Called once, after `updates`; adds what follows from them.
  virtual void Finish(Graph& /*graph*/, std::vector<Operation>* /*updates*/) {}

  // The slot of that variable, filled with `initial` when the job starts; made when first asked for. `suffix` is its name behind the
  // variable's: "w/<suffix>".
  Variable Slot(const Variable& variable, const std::string& slot, const std::string& suffix, float initial);
  // A scalar variable on the device of the first variable, made when first asked for.
  Variable ScalarState(const std::vector<Variable>& variables, const std::string& name, float initial);
  // A constant of the variable's type, on its device.
  Output Number(const Variable& like, float value, const char* name);

 private:
  const std::string name_;
  std::map<std::pair<const Node*, std::string>, Variable> slots_;  // by handle's node, and slot
  std::map<std::pair<const Graph*, std::string>, Variable> scalars_;
};

// w -= rate * g
class GradientDescent : public Optimizer {
 public:
  explicit GradientDescent(float learning_rate) : Optimizer("GradientDescent"), learning_rate_(learning_rate) {}

 protected:
  Operation Apply(const Variable& variable, const Output& gradient) override;

 private:
  const float learning_rate_;
};

// m = momentum * m + g;  w -= rate * m, or with Nesterov's look ahead: w -= rate * (g + momentum * m)
class Momentum : public Optimizer {
 public:
  Momentum(float learning_rate, float momentum, bool use_nesterov = false)
      : Optimizer("Momentum"), learning_rate_(learning_rate), momentum_(momentum), use_nesterov_(use_nesterov) {}

 protected:
  Operation Apply(const Variable& variable, const Output& gradient) override;

 private:
  const float learning_rate_, momentum_;
  const bool use_nesterov_;
};

// a += g²;  w -= rate * g / √a
class Adagrad : public Optimizer {
 public:
  explicit Adagrad(float learning_rate, float initial_accumulator = 0.1f) : Optimizer("Adagrad"), learning_rate_(learning_rate), initial_accumulator_(initial_accumulator) {}

 protected:
  Operation Apply(const Variable& variable, const Output& gradient) override;

 private:
  const float learning_rate_, initial_accumulator_;
};

struct AdamOptions {
  float learning_rate = 0.001f;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
};

// m = β1 m + (1-β1) g;  v = β2 v + (1-β2) g²;  w -= rate * √(1-β2ᵗ) / (1-β1ᵗ) * m / (√v + ε)
class Adam : public Optimizer {
 public:
  explicit Adam(float learning_rate = 0.001f) : Adam(AdamOptions{.learning_rate = learning_rate}) {}
  explicit Adam(const AdamOptions& options) : Optimizer("Adam"), options_(options) {}

 protected:
  void Prepare(Graph& graph, const std::vector<Variable>& variables) override;
  Operation Apply(const Variable& variable, const Output& gradient) override;
  void Finish(Graph& graph, std::vector<Operation>* updates) override;

 private:
  const AdamOptions options_;
  Variable beta1_power_, beta2_power_;
};

struct RMSPropOptions {
  float learning_rate = 0.001f;
  float decay = 0.9f;
  float momentum = 0;
  float epsilon = 1e-10f;
};

// s = decay * s + (1-decay) g²;  m = momentum * m + rate * g / √(s + ε);  w -= m
class RMSProp : public Optimizer {
 public:
  explicit RMSProp(float learning_rate) : RMSProp(RMSPropOptions{.learning_rate = learning_rate}) {}
  explicit RMSProp(const RMSPropOptions& options) : Optimizer("RMSProp"), options_(options) {}

 protected:
  Operation Apply(const Variable& variable, const Output& gradient) override;

 private:
  const RMSPropOptions options_;
};

}  // namespace tandem
