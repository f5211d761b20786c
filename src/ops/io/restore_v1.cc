// Restore, RestoreSlice: one tensor of a checkpoint of the V1 format.
#include "ops/io/restore_v1.h"

#include <memory>

#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/io/arguments.h"

namespace tandem {

StatusOr<Tensor> RestoreFromV1(const V1Reader& reader, const std::string& name, absl::string_view shape_and_slice, DataType dtype) {
  ASSIGN_OR_RETURN(const V1Reader::Variable* variable, reader.Lookup(name));
  if (variable->dtype != dtype) {
    return InvalidArgument("Expected to restore a tensor of type ", DataTypeName(dtype), ", got a tensor of type ", DataTypeName(variable->dtype),
                           " instead: tensor_name = ", name);
  }
  if (shape_and_slice.empty()) return reader.Read(name);
  ASSIGN_OR_RETURN(ShapeAndSlice spec, ParseShapeAndSlice(shape_and_slice));
  if (spec.full != variable->shape) {
    return InvalidArgument("Shape in shape_and_slice spec does not match the shape in the save file: ", spec.full.ToString(),
                           ", save file shape: ", variable->shape.ToString());
  }
  return reader.ReadSlice(name, spec.slice);
}

namespace {

StatusOr<std::string> ReadScalar(const KernelContext& ctx, int i, absl::string_view name) {
  if (ctx.input(i).num_elements() != 1) {
    return InvalidArgument("Input ", i, " (", name, ") must be a string scalar; got a tensor of ", ctx.input(i).num_elements(), " elements");
  }
  return ctx.input(i).data<std::string>()[0];
}

struct RestoreV1 {
  explicit RestoreV1(const Attrs& attrs) : dtype(attrs.GetType("dt")) {}

  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(std::string files, ReadScalar(ctx, 0, "file_pattern"));
    if (ctx.input(1).num_elements() < 1) return InvalidArgument("Input 1 (tensor_name) has no elements");
    std::string slice;
    if (ctx.num_inputs() > 2) {
      ASSIGN_OR_RETURN(slice, ReadScalar(ctx, 2, "shape_and_slice"));
    }
    ASSIGN_OR_RETURN(std::unique_ptr<V1Reader> reader, V1Reader::Open(files));
    ASSIGN_OR_RETURN(Tensor tensor, RestoreFromV1(*reader, ctx.input(1).data<std::string>()[0], slice, dtype));
    ctx.set_output(0, std::move(tensor));
    return OkStatus();
  }

  DataType dtype;
};

Status RestoreV1Shape(ShapeContext& ctx) {
  for (int i = 0; i < ctx.num_inputs(); ++i) RETURN_IF_ERROR(RequireRank(ctx, i, 0));
  return UnknownShapes(ctx);
}

DEFINE_OP("Restore")
    .Input("file_pattern: string")
    .Input("tensor_name: string")
    .Output("tensor: dt")
    .Attr("dt: type")
    .Attr("preferred_shard: int = -1")
    .Stateful()
    .Shape(RestoreV1Shape)
    .Cpu(AnyType<RestoreV1>())
    .NoGradient();

DEFINE_OP("RestoreSlice")
    .Input("file_pattern: string")
    .Input("tensor_name: string")
    .Input("shape_and_slice: string")
    .Output("tensor: dt")
    .Attr("dt: type")
    .Attr("preferred_shard: int = -1")
    .Stateful()
    .Shape(RestoreV1Shape)
    .Cpu(AnyType<RestoreV1>())
    .NoGradient();

}  // namespace
}  // namespace tandem
