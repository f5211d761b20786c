// Op definitions and their registry. An op's file ends with one statement:
//
//   DEFINE_OP("SoftClip")
//       .Input("x: T")
//       .Output("y: T")
//       .Attr("T: {float, double}")
//       .Attr("limit: float = 1.0")
//       .Shape(SameAsInput0)
//       .Cpu(ForTypes<SoftClip, float, double>())
//       .Gradient(SoftClipGradient);
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/status.h"
#include "graph/attrs.h"
#include "kernel/kernel.h"
#include "tandem/graph.h"

namespace tandem {

struct ArgDef {
  std::string name;
  DataType type = kInvalid;     // kInvalid if an attr gives it
  std::string type_attr;        // "T" of "x: T"
  std::string number_attr;      // "N" of "xs: N * T"
  std::string type_list_attr;   // attr of type list(type)
  bool is_ref = false;
};

struct AttrDef {
  std::string name;
  std::string type;             // "int", "type", "list(shape)" …
  bool has_default = false;
  AttrValue default_value;
  bool has_minimum = false;
  int64_t minimum = 0;          // of an int, or of a list's length
  std::vector<DataType> allowed_types;
  std::vector<std::string> allowed_strings;
};

struct OpDef {
  std::string name;
  std::vector<ArgDef> inputs, outputs;
  std::vector<AttrDef> attrs;
  bool is_stateful = false;
  bool is_commutative = false;
  bool is_aggregate = false;
  bool allows_uninitialized_input = false;

  const AttrDef* FindAttr(absl::string_view name) const;
};

class GradientScope;  // graph/gradient.h
class ShapeContext;   // graph/shape_inference.h
using ShapeFunction = std::function<Status(ShapeContext&)>;
using GradientFunction = std::function<Status(GradientScope&)>;
using KernelFactory = std::function<StatusOr<std::unique_ptr<Kernel>>(const Attrs&)>;

// Kernels of an op for some of its types: `attr` chooses, or, if empty, there is one for all.
struct KernelSet {
  std::string attr;
  std::vector<std::pair<DataType, KernelFactory>> by_type;  // one entry with kInvalid if `attr` is empty
};

struct Op {
  OpDef def;
  ShapeFunction shape;                 // null: outputs of unknown shape
  std::vector<KernelSet> kernels;      // for CPU
  GradientFunction gradient;           // null: none
  bool is_not_differentiable = false;  // .NoGradient(): gradients stop here without an error

  // The kernel for a node. Unimplemented, naming op and types, if there is none.
  StatusOr<std::unique_ptr<Kernel>> MakeKernel(const Attrs& attrs) const;
};

// Null if no such op is registered. Any thread.
const Op* FindOp(absl::string_view name);
// In alphabetical order.
std::vector<const Op*> RegisteredOps();

// ---- kernels from structs ----------------------------------------------------------------------------------------------
// A kernel struct is built once per node, from Attrs if it has such a constructor, and has
//   Status Run(KernelContext&) const          or, with ForTypes,  template <typename T> Status Run(KernelContext&) const
// (const or not). A class derived from Kernel or AsyncKernel is used as it is.

namespace internal {

template <typename K>
std::unique_ptr<K> Build(const Attrs& attrs) {
  if constexpr (std::is_constructible_v<K, const Attrs&>) {
    return std::make_unique<K>(attrs);
  } else {
    return std::make_unique<K>();
  }
}

template <typename K>
class PlainKernel : public Kernel {
 public:
  explicit PlainKernel(std::unique_ptr<K> kernel) : kernel_(std::move(kernel)) {}
  Status Run(KernelContext& ctx) override { return kernel_->Run(ctx); }

 private:
  std::unique_ptr<K> kernel_;
};

template <typename K, typename T>
class TypedKernel : public Kernel {
 public:
  explicit TypedKernel(std::unique_ptr<K> kernel) : kernel_(std::move(kernel)) {}
  Status Run(KernelContext& ctx) override { return kernel_->template Run<T>(ctx); }

 private:
  std::unique_ptr<K> kernel_;
};

template <typename Wrapped, typename K>
StatusOr<std::unique_ptr<Kernel>> MakeWrapped(const Attrs& attrs) {
  std::unique_ptr<K> kernel = Build<K>(attrs);
  RETURN_IF_ERROR(attrs.failure());
  return std::unique_ptr<Kernel>(std::make_unique<Wrapped>(std::move(kernel)));
}

template <typename K>
StatusOr<std::unique_ptr<Kernel>> MakeDerived(const Attrs& attrs) {
  std::unique_ptr<Kernel> kernel = Build<K>(attrs);
  RETURN_IF_ERROR(attrs.failure());
  return kernel;
}

}  // namespace internal

// One kernel for all types: K::Run(ctx), or a class derived from Kernel.
template <typename K>
KernelSet AnyType() {
  if constexpr (std::is_base_of_v<Kernel, K>) {
    return {"", {{kInvalid, internal::MakeDerived<K>}}};
  } else {
    return {"", {{kInvalid, internal::MakeWrapped<internal::PlainKernel<K>, K>}}};
  }
}

// K::Run<T>(ctx) for each of the listed types of attr `attr`.
template <typename K, typename... Ts>
KernelSet ForTypes(std::string attr = "T") {
  return {std::move(attr), {{DataTypeOf<Ts>::value, internal::MakeWrapped<internal::TypedKernel<K, Ts>, K>}...}};
}

// The sets of the specification, for ForTypes: ForReal<K>() is ForTypes over REAL.
template <typename K>
KernelSet ForFloating(std::string attr = "T") {
  return ForTypes<K, Half, BFloat16, float, double>(std::move(attr));
}
template <typename K>
KernelSet ForFloatingAndComplex(std::string attr = "T") {
  return ForTypes<K, Half, BFloat16, float, double, std::complex<float>, std::complex<double>>(std::move(attr));
}
template <typename K>
KernelSet ForReal(std::string attr = "T") {
  return ForTypes<K, float, double, int32_t, uint8_t, int16_t, int8_t, int64_t, BFloat16, uint16_t, Half, uint32_t, uint64_t>(std::move(attr));
}
template <typename K>
KernelSet ForArithmetic(std::string attr = "T") {
  return ForTypes<K, float, double, int32_t, uint8_t, int16_t, int8_t, int64_t, BFloat16, uint16_t, Half, uint32_t, uint64_t, std::complex<float>,
                  std::complex<double>>(std::move(attr));
}

// ---- registration -------------------------------------------------------------------------------------------------------

class OpBuilder {
 public:
  explicit OpBuilder(const char* name) : name_(name) {}

  // "x: T", "xs: N * T", "values: dtypes" (a list(type) attr), "i: int32", "ref: Ref(T)".
  OpBuilder&& Input(const char* spec) && { inputs_.push_back(spec); return std::move(*this); }
  OpBuilder&& Output(const char* spec) && { outputs_.push_back(spec); return std::move(*this); }
  // "T: type", "T: {float, double}", "T: NUM" (a set of the specification: IDX FLT F3 FC REAL ARITH NUM EX, also unions
  // "T: FLT + {int32}"), "N: int >= 1 = 3", "dtypes: list(type) >= 1", "s: {'MEAN', 'SUM'} = 'MEAN'", "shape: shape = <unknown>",
  // "b: bool = false", "names: list(string) = []".
  OpBuilder&& Attr(const char* spec) && { attrs_.push_back(spec); return std::move(*this); }
  OpBuilder&& Stateful() && { is_stateful_ = true; return std::move(*this); }
  OpBuilder&& Commutative() && { is_commutative_ = true; return std::move(*this); }
  OpBuilder&& Aggregate() && { is_aggregate_ = true; return std::move(*this); }
  OpBuilder&& AllowsUninitializedInput() && { allows_uninitialized_input_ = true; return std::move(*this); }
  OpBuilder&& Shape(ShapeFunction function) && { shape_ = std::move(function); return std::move(*this); }
  OpBuilder&& Cpu(KernelSet kernels) && { kernels_.push_back(std::move(kernels)); return std::move(*this); }
  OpBuilder&& Gradient(GradientFunction function) && { gradient_ = std::move(function); return std::move(*this); }
  OpBuilder&& NoGradient() && { is_not_differentiable_ = true; return std::move(*this); }

 private:
  friend struct OpRegistrar;
  friend class OpRegistry;
  const char* name_;
  std::vector<const char*> inputs_, outputs_, attrs_;
  bool is_stateful_ = false, is_commutative_ = false, is_aggregate_ = false, allows_uninitialized_input_ = false, is_not_differentiable_ = false;
  ShapeFunction shape_;
  std::vector<KernelSet> kernels_;
  GradientFunction gradient_;
};

struct OpRegistrar {
  OpRegistrar(OpBuilder&& builder);  // NOLINT: `static OpRegistrar r = OpBuilder("X").Input(…)`
};

#define DEFINE_OP(name) static const ::tandem::OpRegistrar TANDEM_CONCAT(tandem_op_, __COUNTER__) = ::tandem::OpBuilder(name)

}  // namespace tandem
