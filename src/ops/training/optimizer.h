// What all optimizer updates share. A rule is its arithmetic and the list of its inputs; from these come the four forms of the op:
// Apply… and SparseApply… on reference variables, ResourceApply… and ResourceSparseApply… on resource variables.
//
//   template <typename C>                      // float for half, bfloat16 and float; double for double
//   struct Momentum {
//     static constexpr int kSlots = 1;
//     Momentum(const OptimizerFlags& flags, const C* scalars) : …       // once per run
//     void Update(C& var, C* slot, C grad) const { … }                  // one element
//   };
//   const Optimizer<Momentum> kMomentum({.name = "Momentum", .variables = {"var", "accum"}, .inputs = {"lr", "grad", "momentum"}});
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "graph/op.h"
#include "kernel/indices.h"
#include "kernel/kernel.h"

namespace tandem {

struct OptimizerFlags {
  bool use_nesterov = false, update_slots = true, multiply_linear_by_lr = false;
};

struct OptimizerSpec {
  std::string name;                    // "Momentum"
  std::vector<std::string> variables;  // "var" and the slots
  // The inputs after the variables: "grad" or "delta", scalars of type T, and global_step, an int64. Sparse forms have "indices" after "grad".
  std::vector<std::string> inputs;
  std::vector<const char*> attrs = {}; // besides T, Tindices and use_locking
  std::vector<std::string> forms = {"Apply", "ResourceApply", "SparseApply", "ResourceSparseApply"};
  // Refuses values of the scalars that the formula cannot use; null: any will do.
  Status (*check)(const OptimizerFlags& flags, bool is_sparse, absl::Span<const double> scalars) = nullptr;
};

// Checks the inputs of a node and opens its variables; a derived class does the arithmetic.
class OptimizerKernel : public Kernel {
 public:
  OptimizerKernel(const Attrs& attrs, const OptimizerSpec& spec);

  // FailedPrecondition for a variable or slot without a value, InvalidArgument for shapes that do not fit or an index out of range;
  // nothing is changed then.
  Status Run(KernelContext& ctx) final;

 protected:
  static constexpr int kMaxVariables = 4;
  static constexpr int kMaxScalars = 8;

  struct Update {
    std::array<Tensor*, kMaxVariables> values{};   // "var", then the slots; all of one shape
    const Tensor* grad = nullptr;
    const Tensor* indices = nullptr;               // null: dense. Else grad's row i belongs to row indices[i]
    std::array<double, kMaxScalars> scalars{};     // in the spec's order
  };
  // Returns -1, or where in update.indices is an index out of range.
  virtual int64_t Apply(const Update& update) const = 0;

  OptimizerFlags flags_;

 private:
  Status ReadInputs(KernelContext& ctx, Update* update) const;
  Status CheckShapes(const Update& update) const;

  const OptimizerSpec& spec_;
  const DataType dtype_;
  bool use_locking_;
  std::vector<int> variable_inputs_;
};

namespace internal {

template <typename T>
using ComputeType = std::conditional_t<std::is_same_v<T, double>, double, float>;

// The slots are written out, not looped over: an inner loop would keep the outer one from being vectorised.
template <typename Rule, typename C, typename T, size_t... Slot>
void UpdateElements(const Rule& rule, int64_t count, const T* grad, T* var, T* const* slots, std::index_sequence<Slot...>) {
  [[maybe_unused]] T* const slot[] = {slots[Slot]..., nullptr};  // one more: there are no empty arrays
  // No element depends on another one, so there is no need to look for overlaps.
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    C w = static_cast<C>(var[i]);
    C state[] = {static_cast<C>(slot[Slot][i])..., C(0)};
    rule.Update(w, state, static_cast<C>(grad[i]));
    ((slot[Slot][i] = static_cast<T>(state[Slot])), ...);
    var[i] = static_cast<T>(w);
  }
}

template <template <typename> class RuleOf, typename T>
class TypedOptimizer : public OptimizerKernel {
 public:
  using OptimizerKernel::OptimizerKernel;

 protected:
  int64_t Apply(const Update& update) const override {
    using C = ComputeType<T>;
    using Rule = RuleOf<C>;
    static_assert(Rule::kSlots < kMaxVariables);
    std::array<C, kMaxScalars> scalars;
    for (int i = 0; i < kMaxScalars; ++i) scalars[i] = static_cast<C>(update.scalars[i]);
    const Rule rule(flags_, scalars.data());

    const T* grad = update.grad->data<T>();
    T* var = update.values[0]->mutable_data<T>();
    std::array<T*, Rule::kSlots + 1> slots{};
    for (int s = 0; s < Rule::kSlots; ++s) slots[s] = update.values[s + 1]->mutable_data<T>();
    if (update.indices == nullptr) {
      UpdateElements<Rule, C>(rule, update.grad->num_elements(), grad, var, slots.data(), std::make_index_sequence<Rule::kSlots>());
      return -1;
    }
    const int64_t rows = update.indices->num_elements();
    const int64_t width = rows == 0 ? 0 : update.grad->num_elements() / rows;
    const int64_t limit = update.values[0]->shape().dim(0);
    if (const int64_t bad = FirstIndexOutside(*update.indices, limit); bad >= 0) return bad;
    const IndexReader indices(*update.indices);
    for (int64_t from = 0; from < rows; ++from) {
      const int64_t row = indices[from];
      if (row < 0 || row >= limit) return from;  // changed since the look above
      std::array<T*, Rule::kSlots + 1> slot_rows{};
      for (int s = 0; s < Rule::kSlots; ++s) slot_rows[s] = slots[s] + row * width;
      UpdateElements<Rule, C>(rule, width, grad + from * width, var + row * width, slot_rows.data(), std::make_index_sequence<Rule::kSlots>());
    }
    return -1;
  }
};

template <template <typename> class RuleOf, typename T>
std::pair<DataType, KernelFactory> OptimizerFactory(const OptimizerSpec* spec) {
  return {DataTypeOf<T>::value, [spec](const Attrs& attrs) -> StatusOr<std::unique_ptr<Kernel>> {
            return std::unique_ptr<Kernel>(std::make_unique<TypedOptimizer<RuleOf, T>>(attrs, *spec));
          }};
}

void RegisterOptimizer(const OptimizerSpec& spec, const KernelSet& kernels);

}  // namespace internal

// Registers the ops of a rule. Of static storage: kernels refer to the spec.
template <template <typename> class RuleOf>
class Optimizer {
 public:
  explicit Optimizer(OptimizerSpec spec) : spec_(std::move(spec)) {
    internal::RegisterOptimizer(spec_, {"T",
                                        {internal::OptimizerFactory<RuleOf, float>(&spec_), internal::OptimizerFactory<RuleOf, double>(&spec_),
                                         internal::OptimizerFactory<RuleOf, Half>(&spec_), internal::OptimizerFactory<RuleOf, BFloat16>(&spec_)}});
  }
  Optimizer(const Optimizer&) = delete;

 private:
  const OptimizerSpec spec_;
};

}  // namespace tandem
