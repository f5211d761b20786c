// What the ops of this folder share: their output is a serialised Summary.
#pragma once

#include "absl/strings/string_view.h"
#include "graph/op.h"
#include "graph/shape_inference.h"

namespace tensorflow {
class Summary;
}  // namespace tensorflow

namespace tandem {

// Output 0, a string scalar.
Status SetSummaryOutput(KernelContext& ctx, const tensorflow::Summary& summary);

// The one string of a scalar. InvalidArgument "<name> must be scalar" otherwise.
StatusOr<std::string> ReadScalarString(const Tensor& tensor, absl::string_view name);

// The tag of one of several images or sounds: "<tag>/<kind>", with "/<i>" unless there can be only one.
std::string NumberedTag(absl::string_view tag, absl::string_view kind, int64_t i, int64_t max_outputs);

}  // namespace tandem
