// TensorSummary, TensorSummaryV2: a tensor as it is, for whichever plugin its metadata names.
#include "ops/summary/summary_output.h"
#include "proto/summary.pb.h"
#include "proto/tensor.pb.h"
#include "tensor/tensor_proto.h"

namespace tandem {
namespace {

struct TensorSummary {
  Status Run(KernelContext& ctx) const {
    tensorflow::Summary summary;
    auto* value = summary.add_value();
    value->set_node_name(ctx.node_name());
    TensorToProto(ctx.input(0), value->mutable_tensor());
    return SetSummaryOutput(ctx, summary);
  }
};

struct TensorSummaryV2 {
  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(std::string tag, ReadScalarString(ctx.input(0), "tag"));
    ASSIGN_OR_RETURN(std::string metadata, ReadScalarString(ctx.input(2), "serialized_summary_metadata"));
    tensorflow::Summary summary;
    auto* value = summary.add_value();
    value->set_tag(tag);
    TensorToProto(ctx.input(1), value->mutable_tensor());
    if (!value->mutable_metadata()->ParseFromString(metadata)) return InvalidArgument("serialized_summary_metadata is not a SummaryMetadata");
    return SetSummaryOutput(ctx, summary);
  }
};

DEFINE_OP("TensorSummary")
    .Input("tensor: T")
    .Output("summary: string")
    .Attr("T: type")
    .Attr("description: string = ''")
    .Attr("labels: list(string) = []")
    .Attr("display_name: string = ''")
    .Shape(ScalarOutputs)
    .Cpu(AnyType<TensorSummary>())
    .NoGradient();

DEFINE_OP("TensorSummaryV2")
    .Input("tag: string")
    .Input("tensor: T")
    .Input("serialized_summary_metadata: string")
    .Output("summary: string")
    .Attr("T: type")
    .Shape(ScalarOutputs)
    .Cpu(AnyType<TensorSummaryV2>())
    .NoGradient();

}  // namespace
}  // namespace tandem
