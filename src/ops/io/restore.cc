// RestoreV2: reads tensors, or slices of them, from a checkpoint of either format.
#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "absl/strings/str_join.h"
#include "checkpoint/bundle_reader.h"
#include "checkpoint/v1_reader.h"
#include "core/file.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/io/arguments.h"
#include "ops/io/restore_v1.h"

namespace tandem {
namespace {

StatusOr<Tensor> ReadOne(const BundleReader& reader, const std::string& name, const std::string& shape_and_slice) {
  if (shape_and_slice.empty()) return reader.Read(name);
  ASSIGN_OR_RETURN(ShapeAndSlice spec, ParseShapeAndSlice(shape_and_slice));
  ASSIGN_OR_RETURN(const BundleEntry* entry, reader.Lookup(name));
  if (spec.full != entry->shape) {
    return InvalidArgument("tensor_name = ", name, "; shape in shape_and_slice spec ", spec.full.ToString(),
                           " does not match the shape stored in checkpoint: ", entry->shape.ToString());
  }
  return reader.ReadSlice(name, spec.slice);
}

// Before anything is read: all that is wrong in one message.
Status CheckKeys(const BundleReader& reader, absl::Span<const std::string> names, const std::vector<DataType>& dtypes) {
  std::vector<std::string> missing, mismatches;
  for (size_t i = 0; i < names.size(); ++i) {
    StatusOr<const BundleEntry*> entry = reader.Lookup(names[i]);
    if (!entry.ok()) {
      missing.emplace_back(entry.status().message());
    } else if ((*entry)->dtype != dtypes[i]) {
      mismatches.push_back(absl::StrCat("tensor_name = ", names[i], "; expected dtype ", DataTypeName(dtypes[i]), " does not equal original dtype ",
                                        DataTypeName((*entry)->dtype)));
    }
  }
  if (!missing.empty()) return NotFound(absl::StrJoin(missing, "\n"));
  if (!mismatches.empty()) return InvalidArgument(absl::StrJoin(mismatches, "\n"));
  return OkStatus();
}

struct RestoreV2 {
  explicit RestoreV2(const Attrs& attrs) : dtypes(attrs.GetTypes("dtypes")) {}

  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(std::string prefix, ReadPrefix(ctx.input(0), "prefix"));
    RETURN_IF_ERROR(CheckNamesAndSlices(ctx.input(1), ctx.input(2)));
    absl::Span<const std::string> names = ctx.input(1).values<std::string>(), slices = ctx.input(2).values<std::string>();
    if (names.size() != dtypes.size()) return InvalidArgument("Got ", names.size(), " tensor names, but ", dtypes.size(), " expected dtypes.");
    if (!FileExists(IndexFileName(prefix))) return RunV1(ctx, prefix, names, slices);
    ASSIGN_OR_RETURN(std::unique_ptr<BundleReader> reader, BundleReader::Open(prefix));
    RETURN_IF_ERROR(CheckKeys(*reader, names, dtypes));
    // In the order in which they lie in the files, roughly: a disk reads ahead.
    std::vector<size_t> order(names.size());
    std::iota(order.begin(), order.end(), 0);
    auto position = [&](size_t i) {
      const BundleEntry* entry = *reader->Lookup(names[i]);  // found by CheckKeys
      return std::make_pair(entry->shard, entry->offset);
    };
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return position(a) < position(b); });
    for (size_t i : order) {
      if (ctx.cancellation().is_cancelled()) return ctx.cancellation().reason();
      ASSIGN_OR_RETURN(Tensor tensor, ReadOne(*reader, names[i], slices[i]));
      ctx.set_output(static_cast<int>(i), std::move(tensor));
    }
    return OkStatus();
  }

  Status RunV1(KernelContext& ctx, const std::string& prefix, absl::Span<const std::string> names, absl::Span<const std::string> slices) const {
    ASSIGN_OR_RETURN(std::unique_ptr<V1Reader> reader, V1Reader::Open(prefix));
    for (size_t i = 0; i < names.size(); ++i) {
      ASSIGN_OR_RETURN(Tensor tensor, RestoreFromV1(*reader, names[i], slices[i], dtypes[i]));
      ctx.set_output(static_cast<int>(i), std::move(tensor));
    }
    return OkStatus();
  }

  std::vector<DataType> dtypes;
};

// A slice that the graph tells has the shape that it says.
Status RestoreShape(ShapeContext& ctx) {
  RETURN_IF_ERROR(RequireRank(ctx, 0, 0));
  RETURN_IF_ERROR(RequireRank(ctx, 1, 1));
  RETURN_IF_ERROR(RequireRank(ctx, 2, 1));
  const Tensor* slices = ctx.constant(2);
  if (slices == nullptr || slices->dtype() != kString || slices->num_elements() != ctx.num_outputs()) return UnknownShapes(ctx);
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    const std::string& text = slices->data<std::string>()[i];
    if (text.empty()) {
      ctx.set_output(i, PartialShape());
      continue;
    }
    ASSIGN_OR_RETURN(ShapeAndSlice spec, ParseShapeAndSlice(text));
    ctx.set_output(i, spec.slice_shape);
  }
  return OkStatus();
}

DEFINE_OP("RestoreV2")
    .Input("prefix: string")
    .Input("tensor_names: string")
    .Input("shape_and_slices: string")
    .Output("tensors: dtypes")
    .Attr("dtypes: list(type) >= 1")
    .Stateful()
    .Shape(RestoreShape)
    .Cpu(AnyType<RestoreV2>())
    .NoGradient();

}  // namespace
}  // namespace tandem
