// SaveV2: writes tensors, or slices of partitioned variables, as a checkpoint of one data file under `prefix`.
#include <memory>

#include "checkpoint/bundle_writer.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/io/arguments.h"

namespace tandem {
namespace {

constexpr int kFirstTensor = 3;

Status AddTensor(BundleWriter& writer, const std::string& name, const std::string& shape_and_slice, const Tensor& tensor) {
  if (shape_and_slice.empty()) return writer.Add(name, tensor);
  ASSIGN_OR_RETURN(ShapeAndSlice spec, ParseShapeAndSlice(shape_and_slice));
  if (spec.slice_shape != tensor.shape()) {
    return InvalidArgument("Slice in shape_and_slice specification does not match the shape of the tensor to  save: ", shape_and_slice,
                           ", tensor: ", tensor.shape().ToString());
  }
  return writer.AddSlice(name, spec.full, spec.slice, tensor);
}

struct SaveV2 {
  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(std::string prefix, ReadPrefix(ctx.input(0), "prefix"));
    RETURN_IF_ERROR(CheckNamesAndSlices(ctx.input(1), ctx.input(2)));
    int count = ctx.num_inputs() - kFirstTensor;
    absl::Span<const std::string> names = ctx.input(1).values<std::string>(), slices = ctx.input(2).values<std::string>();
    if (static_cast<int>(names.size()) != count) return InvalidArgument("Got ", names.size(), " tensor names but ", count, " tensors.");
    ASSIGN_OR_RETURN(std::unique_ptr<BundleWriter> writer, BundleWriter::Create(prefix));
    for (int i = 0; i < count; ++i) {
      if (ctx.cancellation().is_cancelled()) return ctx.cancellation().reason();
      RETURN_IF_ERROR(AddTensor(*writer, names[i], slices[i], ctx.input(kFirstTensor + i)));
    }
    return writer->Finish();
  }
};

Status SaveShape(ShapeContext& ctx) {
  RETURN_IF_ERROR(RequireRank(ctx, 0, 0));
  RETURN_IF_ERROR(RequireRank(ctx, 1, 1));
  return RequireRank(ctx, 2, 1);
}

DEFINE_OP("SaveV2")
    .Input("prefix: string")
    .Input("tensor_names: string")
    .Input("shape_and_slices: string")
    .Input("tensors: dtypes")
    .Attr("dtypes: list(type) >= 1")
    .Stateful()
    .Shape(SaveShape)
    .Cpu(AnyType<SaveV2>())
    .NoGradient();

}  // namespace
}  // namespace tandem
