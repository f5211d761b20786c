#include "graph/op.h"

#include <algorithm>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "core/mutex.h"
#include "graph/op_spec.h"

namespace tandem {

// Definitions are kept as text until the first lookup: a process that starts parses nothing, and order of files does not matter.
class OpRegistry {
 public:
  static OpRegistry& Get() {
    static OpRegistry* registry = new OpRegistry;  // used by static initialisers and until the very end
    return *registry;
  }

  void Add(OpBuilder&& builder) {
    MutexLock lock(&mu_);
    pending_.push_back(std::move(builder));
  }

  const Op* Find(absl::string_view name) {
    MutexLock lock(&mu_);
    Parse();
    auto found = ops_.find(name);
    return found == ops_.end() ? nullptr : found->second.get();
  }

  std::vector<const Op*> All() {
    MutexLock lock(&mu_);
    Parse();
    std::vector<const Op*> all;
    all.reserve(ops_.size());
    for (const auto& [name, op] : ops_) all.push_back(op.get());
    std::sort(all.begin(), all.end(), [](const Op* a, const Op* b) { return a->def.name < b->def.name; });
    return all;
  }

 private:
  void Parse() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    for (OpBuilder& builder : pending_) {
      auto op = std::make_unique<Op>();
      op->def = ParseOpDef(builder.name_, builder.inputs_, builder.outputs_, builder.attrs_);
      op->def.is_stateful = builder.is_stateful_;
      op->def.is_commutative = builder.is_commutative_;
      op->def.is_aggregate = builder.is_aggregate_;
      op->def.allows_uninitialized_input = builder.allows_uninitialized_input_;
      op->shape = std::move(builder.shape_);
      op->kernels = std::move(builder.kernels_);
      op->gradient = std::move(builder.gradient_);
      op->is_not_differentiable = builder.is_not_differentiable_;
      const std::string name = op->def.name;
      if (!ops_.emplace(name, std::move(op)).second) FatalSpec("op", name, "is registered twice");
    }
    pending_.clear();
  }

  Mutex mu_;
  std::vector<OpBuilder> pending_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, std::unique_ptr<Op>> ops_ ABSL_GUARDED_BY(mu_);
};

OpRegistrar::OpRegistrar(OpBuilder&& builder) { OpRegistry::Get().Add(std::move(builder)); }

const Op* FindOp(absl::string_view name) { return OpRegistry::Get().Find(name); }

std::vector<const Op*> RegisteredOps() { return OpRegistry::Get().All(); }

const AttrDef* OpDef::FindAttr(absl::string_view name) const {
  for (const AttrDef& attr : attrs) {
    if (attr.name == name) return &attr;
  }
  return nullptr;
}

StatusOr<std::unique_ptr<Kernel>> Op::MakeKernel(const Attrs& attrs) const {
  for (const KernelSet& set : kernels) {
    const DataType type = set.attr.empty() ? kInvalid : attrs.GetType(set.attr);
    for (const auto& [candidate, factory] : set.by_type) {
      if (candidate == type) return factory(attrs);
    }
  }
  std::string types;
  for (const AttrDef& attr : def.attrs) {
    if (attr.type == "type" && attrs.Has(attr.name)) absl::StrAppend(&types, types.empty() ? "" : ", ", attr.name, "=", DataTypeName(attrs.GetType(attr.name)));
  }
  return Unimplemented("No OpKernel was registered to support Op '", def.name, "' on CPU with these attrs: [", types, "]");
}

}  // namespace tandem
