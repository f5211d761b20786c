// Reference variables: VariableV2, and TemporaryVariable, which lives for one step.
#include <memory>
#include <string>

#include "graph/op.h"
#include "graph/shape_inference.h"
#include "kernel/resource_access.h"
#include "kernel/variable.h"

namespace tandem {
namespace {

struct Variable {
  explicit Variable(const Attrs& attrs)
      : dtype(attrs.GetType("dtype")), shape(attrs.GetShape("shape")), container(attrs.GetString("container")), name(attrs.GetString("shared_name")) {
    if (Status status = CheckResourceName(container, name); !status.ok()) attrs.Fail(status);
    if (name.empty()) name = attrs.node_name();
  }

  Status Run(KernelContext& ctx) {
    ASSIGN_OR_RETURN(std::shared_ptr<VariableStorage> found, cache.Get(ctx.resources(), [&] { return Find(ctx.resources()); }));
    ctx.set_ref_output(0, std::move(found));
    return OkStatus();
  }

  StatusOr<std::shared_ptr<VariableStorage>> Find(ResourceManager& resources) const {
    ASSIGN_OR_RETURN(std::shared_ptr<RefVariable> found, resources.LookupOrCreate<RefVariable>(container, name, [&]() -> StatusOr<std::shared_ptr<RefVariable>> {
      return std::make_shared<RefVariable>(name, dtype, shape);
    }));
    if (found->dtype() != dtype) {
      return InvalidArgument("variable ", name, " exists with type ", DataTypeName(found->dtype()), ", this node wants ", DataTypeName(dtype));
    }
    return std::shared_ptr<VariableStorage>(std::move(found));
  }

  const DataType dtype;
  const PartialShape shape;
  const std::string container;
  std::string name;
  ResourceCache<std::shared_ptr<VariableStorage>> cache;
};

DEFINE_OP("VariableV2")
    .Output("ref: Ref(dtype)")
    .Attr("shape: shape")
    .Attr("dtype: type")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Stateful()
    .Shape(ShapeFromAttr)
    .Cpu(AnyType<Variable>());

DEFINE_OP("Variable")
    .Output("ref: Ref(dtype)")
    .Attr("shape: shape")
    .Attr("dtype: type")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Stateful()
    .Shape([](ShapeContext& ctx) {
      // Old clients wrote [] where they did not know the shape.
      const PartialShape shape = ctx.attrs().GetShape("shape");
      ctx.set_output(0, shape.has_rank() && shape.rank() == 0 ? PartialShape() : shape);
      return OkStatus();
    })
    .Cpu(AnyType<Variable>());

struct TemporaryVariable {
  explicit TemporaryVariable(const Attrs& attrs) : dtype(attrs.GetType("dtype")), name(attrs.GetString("var_name")) {
    const PartialShape declared = attrs.GetShape("shape");
    if (declared.is_fully_known()) {
      shape = declared.ToShape();
    } else {
      attrs.Fail(InvalidArgument("shape of a temporary variable must be fully known, got ", declared.ToString()));
    }
    if (name.empty()) name = attrs.node_name();
  }

  Status Run(KernelContext& ctx) const {
    bool is_new = false;
    ASSIGN_OR_RETURN(std::shared_ptr<RefVariable> variable,
                     ctx.step().step_resources->LookupOrCreate<RefVariable>("", name, [&]() -> StatusOr<std::shared_ptr<RefVariable>> {
                       is_new = true;
                       auto made = std::make_shared<RefVariable>(name, dtype, PartialShape(shape));
                       ASSIGN_OR_RETURN(Tensor value, Tensor::Allocate(dtype, shape));
                       MutexLock lock(&made->mu);
                       made->value = std::move(value);
                       return made;
                     }));
    if (!is_new) return AlreadyExists("temporary variable ", name, " exists in this step");
    ctx.set_ref_output(0, std::move(variable));
    return OkStatus();
  }

  const DataType dtype;
  Shape shape;
  std::string name;
};

DEFINE_OP("TemporaryVariable")
    .Output("ref: Ref(dtype)")
    .Attr("shape: shape")
    .Attr("dtype: type")
    .Attr("var_name: string = ''")
    .Stateful()
    .Shape(ShapeFromAttr)
    .Cpu(AnyType<TemporaryVariable>());

struct DestroyTemporaryVariable {
  explicit DestroyTemporaryVariable(const Attrs& attrs) : name(attrs.GetString("var_name")) {}

  Status Run(KernelContext& ctx) const {
    Tensor value = ctx.ref_input(0)->Snapshot();
    RETURN_IF_ERROR(ctx.step().step_resources->Delete<RefVariable>("", name));
    ctx.set_output(0, std::move(value));
    return OkStatus();
  }

  const std::string name;
};

DEFINE_OP("DestroyTemporaryVariable")
    .Input("ref: Ref(T)")
    .Output("value: T")
    .Attr("T: type")
    .Attr("var_name: string")
    .Shape(SameAsInput0)
    .Cpu(AnyType<DestroyTemporaryVariable>());

}  // namespace
}  // namespace tandem
