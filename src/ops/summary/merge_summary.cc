// MergeSummary: the values of several summaries in one.
#include "absl/container/flat_hash_set.h"
#include "ops/summary/summary_output.h"
#include "proto/summary.pb.h"

namespace tandem {
namespace {

struct MergeSummary {
  Status Run(KernelContext& ctx) const {
    tensorflow::Summary merged;
    absl::flat_hash_set<std::string> tags;
    for (int i = 0; i < ctx.num_inputs(); ++i) {
      for (const std::string& bytes : ctx.input(i).values<std::string>()) {
        tensorflow::Summary summary;
        if (!summary.ParseFromString(bytes)) return InvalidArgument("Could not parse one of the summary inputs");
        for (auto& value : *summary.mutable_value()) {
          // TensorSummary gives no tag.
          if (!value.tag().empty() && !tags.insert(value.tag()).second) return InvalidArgument("Duplicate tag ", value.tag(), " found in summary inputs ");
          merged.add_value()->Swap(&value);
        }
      }
    }
    return SetSummaryOutput(ctx, merged);
  }
};

DEFINE_OP("MergeSummary")
    .Input("inputs: N * string")
    .Output("summary: string")
    .Attr("N: int >= 1")
    .Shape(ScalarOutputs)
    .Cpu(AnyType<MergeSummary>())
    .NoGradient();

}  // namespace
}  // namespace tandem
