// Resource variables: the handle, reading, assigning, asking, destroying.
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "kernel/variable_access.h"

namespace tandem {
namespace {

// The shared_name with which clients ask for a variable that no name leads to, a new one at each execution.
constexpr char kAnonymousName[] = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";
// What TensorFlow's handles of variables say.
constexpr char kVariableTypeName[] = "N10tensorflow3VarE";

struct VarHandle {
  explicit VarHandle(const Attrs& attrs)
      : container(attrs.GetString("container")), name(attrs.GetString("shared_name")), dtype(attrs.GetType("dtype")), shape(attrs.GetShape("shape")) {}

  Status Run(KernelContext& ctx) {
    if (name == kAnonymousName) {
      ctx.set_output(0, Handle(ctx, std::make_shared<ResourceVariable>(name)));
      return OkStatus();
    }
    ASSIGN_OR_RETURN(Tensor handle, cache.Get(ctx.resources(), [&]() -> StatusOr<Tensor> {
      ASSIGN_OR_RETURN(std::shared_ptr<ResourceVariable> variable,
                       ctx.resources().LookupOrCreate<ResourceVariable>(
                           container, name, [&]() -> StatusOr<std::shared_ptr<ResourceVariable>> { return std::make_shared<ResourceVariable>(name); }));
      return Handle(ctx, std::move(variable));
    }));
    ctx.set_output(0, std::move(handle));
    return OkStatus();
  }

  Tensor Handle(KernelContext& ctx, std::shared_ptr<ResourceVariable> variable) const {
    Tensor handle = MakeHandle(ctx.device(), container, name, kVariableTypeName, std::move(variable));
    handle.mutable_data<ResourceHandle>()->dtypes_and_shapes = {{dtype, shape}};
    return handle;
  }

  const std::string container, name;
  const DataType dtype;
  const PartialShape shape;
  ResourceCache<Tensor> cache;
};

DEFINE_OP("VarHandleOp")
    .Output("resource: resource")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Attr("debug_name: string = ''")
    .Attr("dtype: type")
    .Attr("shape: shape")
    .Attr("allowed_devices: list(string) = []")
    .Stateful()
    .Shape(ScalarOutputs)
    .Cpu(AnyType<VarHandle>());

struct ReadVariable {
  explicit ReadVariable(const Attrs& attrs) : dtype(attrs.GetType("dtype")) {}

  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(Tensor value, tandem::ReadVariable(ctx, 0, dtype, absl::StatusCode::kFailedPrecondition));
    ctx.set_output(0, std::move(value));
    return OkStatus();
  }

  const DataType dtype;
};

DEFINE_OP("ReadVariableOp")
    .Input("resource: resource")
    .Output("value: dtype")
    .Attr("dtype: type")
    .Stateful()
    .Shape(UnknownShapes)
    .Cpu(AnyType<ReadVariable>())
    .Gradient([](GradientScope& g) { return g.Return({g.grad(0)}); });  // the gradient of a handle is that of the value behind it

struct AssignVariable {
  explicit AssignVariable(const Attrs& attrs) : dtype(attrs.GetType("dtype")), validate_shape(attrs.GetBool("validate_shape")) {}

  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(const ResourceHandle* handle, HandleInput(ctx, 0));
    ASSIGN_OR_RETURN(std::shared_ptr<ResourceVariable> variable, FindOrCreate(ctx, *handle));
    const Shape& shape = ctx.input(1).shape();
    Tensor old;  // freed outside of the lock
    MutexLock lock(&variable->mu);
    Tensor& value = variable->value;
    if (value.has_value() && value.dtype() != dtype) {
      return InvalidArgument("Trying to assign variable with wrong dtype. Expected ", DataTypeName(value.dtype()), " got ", DataTypeName(dtype));
    }
    if (validate_shape) RETURN_IF_ERROR(CheckShape(*handle, value, shape));
    old = std::move(value);
    value = TakeOrCopyInput(ctx, 1);
    return OkStatus();
  }

  static StatusOr<std::shared_ptr<ResourceVariable>> FindOrCreate(KernelContext& ctx, const ResourceHandle& handle) {
    if (handle.resource != nullptr) return FindResource<ResourceVariable>(ctx, handle);
    return ctx.resources().LookupOrCreate<ResourceVariable>(
        handle.container, handle.name, [&]() -> StatusOr<std::shared_ptr<ResourceVariable>> { return std::make_shared<ResourceVariable>(handle.name); });
  }

  static Status CheckShape(const ResourceHandle& handle, const Tensor& value, const Shape& shape) {
    PartialShape wanted;
    if (value.has_value()) {
      wanted = value.shape();
    } else if (!handle.dtypes_and_shapes.empty()) {
      wanted = handle.dtypes_and_shapes.front().second;
    }
    if (wanted.Allows(shape)) return OkStatus();
    return InvalidArgument("Trying to assign to variable with tensor with wrong shape. Expected ", wanted.ToString(), " got ", shape.ToString());
  }

  const DataType dtype;
  const bool validate_shape;
};

DEFINE_OP("AssignVariableOp")
    .Input("resource: resource")
    .Input("value: dtype")
    .Attr("dtype: type")
    .Attr("validate_shape: bool = false")
    .Stateful()
    .Shape(NoOutputs)
    .Cpu(AnyType<AssignVariable>())
    .NoGradient();

template <template <typename> class Operation>
struct AssignUpdateVariable {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    VariableUpdate update;
    RETURN_IF_ERROR(update.Open(ctx, {0}, DataTypeOf<T>::value, /*use_locking=*/true, absl::StatusCode::kNotFound));
    const Tensor& by = ctx.input(1);
    if (by.shape() != update.value(0).shape()) {
      return InvalidArgument("Cannot update variable with shape ", update.value(0).shape().ToString(), " using a Tensor with shape ", by.shape().ToString(),
                             ", shapes must be equal.");
    }
    T* value = update.value(0).mutable_data<T>();
    const T* addend = by.data<T>();
    const int64_t count = by.num_elements();
    for (int64_t i = 0; i < count; ++i) value[i] = Operation<T>()(value[i], addend[i]);
    return OkStatus();
  }
};

DEFINE_OP("AssignAddVariableOp")
    .Input("resource: resource")
    .Input("value: dtype")
    .Attr("dtype: type")
    .Stateful()
    .Shape(NoOutputs)
    .Cpu(ForArithmetic<AssignUpdateVariable<std::plus>>("dtype"))
    .NoGradient();

DEFINE_OP("AssignSubVariableOp")
    .Input("resource: resource")
    .Input("value: dtype")
    .Attr("dtype: type")
    .Stateful()
    .Shape(NoOutputs)
    .Cpu(ForArithmetic<AssignUpdateVariable<std::minus>>("dtype"))
    .NoGradient();

struct VarIsInitialized {
  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(const ResourceHandle* handle, HandleInput(ctx, 0));
    StatusOr<std::shared_ptr<ResourceVariable>> variable = FindResource<ResourceVariable>(ctx, *handle);
    if (!variable.ok() && !absl::IsNotFound(variable.status())) return variable.status();
    ASSIGN_OR_RETURN(Tensor* is_initialized, ctx.Allocate(0, Shape()));
    *is_initialized->mutable_data<bool>() = variable.ok() && (*variable)->is_initialized();
    return OkStatus();
  }
};

DEFINE_OP("VarIsInitializedOp")
    .Input("resource: resource")
    .Output("is_initialized: bool")
    .Stateful()
    .Shape(ScalarOutputs)
    .Cpu(AnyType<VarIsInitialized>())
    .NoGradient();

struct VariableShape {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(Tensor value, tandem::ReadVariable(ctx, 0, kInvalid, absl::StatusCode::kNotFound));
    const Shape& shape = value.shape();
    ASSIGN_OR_RETURN(Tensor* sizes, ctx.Allocate(0, Shape{shape.rank()}));
    for (int i = 0; i < shape.rank(); ++i) {
      if (shape.dim(i) > std::numeric_limits<T>::max()) return InvalidArgument("size ", shape.dim(i), " of dimension ", i, " does not fit in out_type");
      sizes->mutable_data<T>()[i] = static_cast<T>(shape.dim(i));
    }
    return OkStatus();
  }
};

DEFINE_OP("VariableShape")
    .Input("input: resource")
    .Output("output: out_type")
    .Attr("out_type: IDX = int32")
    .Stateful()
    .Shape([](ShapeContext& ctx) {
      ctx.set_output(0, PartialShape::UnknownOfRank(1));
      return OkStatus();
    })
    .Cpu(ForTypes<VariableShape, int32_t, int64_t>("out_type"))
    .NoGradient();

struct DestroyResource {
  explicit DestroyResource(const Attrs& attrs) : ignores_missing(attrs.GetBool("ignore_lookup_error")) {}

  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(const ResourceHandle* handle, HandleInput(ctx, 0));
    const Status status = Destroy(ctx, *handle);
    return ignores_missing && absl::IsNotFound(status) ? OkStatus() : status;
  }

  static Status Destroy(KernelContext& ctx, const ResourceHandle& handle) {
    std::shared_ptr<Resource> resource = handle.resource;
    if (resource == nullptr) {
      ASSIGN_OR_RETURN(resource, ctx.resources().Lookup<ResourceVariable>(handle.container, handle.name));
    }
    const Status deleted = ctx.resources().DeleteObject(resource.get());
    if (auto* variable = dynamic_cast<ResourceVariable*>(resource.get())) {
      // Who still holds the handle shall see that the variable is gone. One that was never assigned counts as missing.
      MutexLock lock(&variable->mu);
      const Tensor old = std::move(variable->value);
      if (!old.has_value()) return NotFound("Resource ", handle.container, "/", handle.name, " does not exist.");
    }
    return deleted;
  }

  const bool ignores_missing;
};

DEFINE_OP("DestroyResourceOp")
    .Input("resource: resource")
    .Attr("ignore_lookup_error: bool = true")
    .Stateful()
    .Shape(NoOutputs)
    .Cpu(AnyType<DestroyResource>())
    .NoGradient();

}  // namespace
}  // namespace tandem
