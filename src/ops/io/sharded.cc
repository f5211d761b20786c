// MergeV2Checkpoints, ShardedFilename, ShardedFilespec: what joins the parts of a sharded save.
#include <vector>

#include "absl/strings/str_format.h"
#include "checkpoint/bundle_merge.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/io/arguments.h"

namespace tandem {
namespace {

struct MergeV2Checkpoints {
  explicit MergeV2Checkpoints(const Attrs& attrs)
      : delete_old_dirs(attrs.GetBool("delete_old_dirs")), allow_missing_files(attrs.GetBool("allow_missing_files")) {}

  Status Run(KernelContext& ctx) const {
    const Tensor &prefixes = ctx.input(0), &destination = ctx.input(1);
    if (prefixes.shape().rank() != 1) return InvalidArgument("Input checkpoint_prefixes should be an 1-D tensor, got ", prefixes.shape().ToString(), " instead.");
    if (!destination.shape().is_scalar()) {
      return InvalidArgument("Input destination_prefix should be a scalar tensor, got ", destination.shape().ToString(), " instead.");
    }
    return MergeBundles(prefixes.values<std::string>(), destination.scalar<std::string>(), delete_old_dirs, allow_missing_files);
  }

  bool delete_old_dirs, allow_missing_files;
};

Status MergeShape(ShapeContext& ctx) {
  RETURN_IF_ERROR(RequireRank(ctx, 0, 1));
  return RequireRank(ctx, 1, 0);
}

DEFINE_OP("MergeV2Checkpoints")
    .Input("checkpoint_prefixes: string")
    .Input("destination_prefix: string")
    .Attr("delete_old_dirs: bool = true")
    .Attr("allow_missing_files: bool = false")
    .Stateful()
    .Shape(MergeShape)
    .Cpu(AnyType<MergeV2Checkpoints>())
    .NoGradient();

Status CheckScalar(const Tensor& tensor, absl::string_view name) {
  if (tensor.shape().is_scalar()) return OkStatus();
  return InvalidArgument(name, " must be a scalar, got shape ", tensor.shape().ToString());
}

struct ShardedFilename {
  Status Run(KernelContext& ctx) const {
    RETURN_IF_ERROR(CheckScalar(ctx.input(0), "basename"));
    RETURN_IF_ERROR(CheckScalar(ctx.input(1), "shard"));
    RETURN_IF_ERROR(CheckScalar(ctx.input(2), "num_shards"));
    ASSIGN_OR_RETURN(Tensor* name, ctx.Allocate(0, Shape()));
    *name->mutable_data<std::string>() =
        absl::StrFormat("%s-%05d-of-%05d", ctx.input(0).scalar<std::string>(), ctx.input(1).scalar<int32_t>(), ctx.input(2).scalar<int32_t>());
    return OkStatus();
  }
};

struct ShardedFilespec {
  Status Run(KernelContext& ctx) const {
    RETURN_IF_ERROR(CheckScalar(ctx.input(0), "basename"));
    RETURN_IF_ERROR(CheckScalar(ctx.input(1), "num_shards"));
    ASSIGN_OR_RETURN(Tensor* name, ctx.Allocate(0, Shape()));
    *name->mutable_data<std::string>() = absl::StrFormat("%s-%s-of-%05d", ctx.input(0).scalar<std::string>(), "?????", ctx.input(1).scalar<int32_t>());
    return OkStatus();
  }
};

Status ScalarsToScalar(ShapeContext& ctx) {
  for (int i = 0; i < ctx.num_inputs(); ++i) RETURN_IF_ERROR(RequireRank(ctx, i, 0));
  return ScalarOutputs(ctx);
}

DEFINE_OP("ShardedFilename")
    .Input("basename: string")
    .Input("shard: int32")
    .Input("num_shards: int32")
    .Output("filename: string")
    .Shape(ScalarsToScalar)
    .Cpu(AnyType<ShardedFilename>())
    .NoGradient();

DEFINE_OP("ShardedFilespec")
    .Input("basename: string")
    .Input("num_shards: int32")
    .Output("filename: string")
    .Shape(ScalarsToScalar)
    .Cpu(AnyType<ShardedFilespec>())
    .NoGradient();

}  // namespace
}  // namespace tandem
