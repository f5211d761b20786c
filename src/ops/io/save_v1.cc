// Save, SaveSlices: write tensors as a checkpoint file of the V1 format.
#include <algorithm>
#include <numeric>
#include <vector>

#include "checkpoint/v1_writer.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/io/arguments.h"

namespace tandem {
namespace {

struct SaveV1 {
  explicit SaveV1(const Attrs& attrs) : has_slices(attrs.op() == "SaveSlices") {}

  Status Run(KernelContext& ctx) const {
    const Tensor &filename = ctx.input(0), &tensor_names = ctx.input(1);
    if (filename.num_elements() != 1) {
      return InvalidArgument("Input 0 (filename) must be a string scalar; got a tensor of ", filename.num_elements(), " elements");
    }
    int first = has_slices ? 3 : 2;
    size_t count = static_cast<size_t>(ctx.num_inputs() - first);
    absl::Span<const std::string> names = tensor_names.values<std::string>();
    if (names.size() != count) return InvalidArgument("Got ", names.size(), " tensor names but ", count, " tensors.");
    if (has_slices && static_cast<size_t>(ctx.input(2).num_elements()) != count) {
      return InvalidArgument("Got ", ctx.input(2).num_elements(), " shapes and slices but ", count, " tensors.");
    }
    V1Writer writer(filename.data<std::string>()[0]);
    std::vector<size_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return names[a] < names[b]; });
    for (size_t i : order) {
      const Tensor& tensor = ctx.input(first + static_cast<int>(i));
      ShapeAndSlice spec{tensor.shape(), TensorSlice::Whole(tensor.shape().rank()), tensor.shape()};
      const std::string* text = has_slices ? &ctx.input(2).data<std::string>()[i] : nullptr;
      if (text != nullptr && !text->empty()) {
        ASSIGN_OR_RETURN(spec, ParseShapeAndSlice(*text));
        if (spec.slice_shape != tensor.shape()) {
          return InvalidArgument("Slice in shape_and_slice specification does not match the shape of the tensor to  save: ", *text,
                                 ", tensor: ", tensor.shape().ToString());
        }
      }
      RETURN_IF_ERROR(writer.Add(names[i], spec.full, spec.slice, tensor));
    }
    return writer.Finish();
  }

  bool has_slices;
};

Status SaveV1Shape(ShapeContext& ctx) {
  RETURN_IF_ERROR(RequireRank(ctx, 0, 0));
  return RequireRank(ctx, 1, 1);
}

DEFINE_OP("Save")
    .Input("filename: string")
    .Input("tensor_names: string")
    .Input("data: T")
    .Attr("T: list(type) >= 1")
    .Stateful()
    .Shape(SaveV1Shape)
    .Cpu(AnyType<SaveV1>())
    .NoGradient();

DEFINE_OP("SaveSlices")
    .Input("filename: string")
    .Input("tensor_names: string")
    .Input("shapes_and_slices: string")
    .Input("data: T")
    .Attr("T: list(type) >= 1")
    .Stateful()
    .Shape(SaveV1Shape)
    .Cpu(AnyType<SaveV1>())
    .NoGradient();

}  // namespace
}  // namespace tandem
