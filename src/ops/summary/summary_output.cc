#include "ops/summary/summary_output.h"

#include "absl/strings/str_cat.h"
#include "proto/summary.pb.h"

namespace tandem {

Status SetSummaryOutput(KernelContext& ctx, const tensorflow::Summary& summary) {
  ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, Shape()));
  if (!summary.SerializeToString(output->mutable_data<std::string>())) return ResourceExhausted("a summary is larger than 2 GB");
  return OkStatus();
}

StatusOr<std::string> ReadScalarString(const Tensor& tensor, absl::string_view name) {
  if (!tensor.shape().is_scalar()) return InvalidArgument(name, " must be scalar, got shape ", tensor.shape().ToString());
  return tensor.scalar<std::string>();
}

std::string NumberedTag(absl::string_view tag, absl::string_view kind, int64_t i, int64_t max_outputs) {
  return max_outputs == 1 ? absl::StrCat(tag, "/", kind) : absl::StrCat(tag, "/", kind, "/", i);
}

}  // namespace tandem
