// ScalarSummary, HistogramSummary.
#include <cmath>

#include "ops/summary/summary_output.h"
#include "proto/summary.pb.h"
#include "summary/histogram.h"

namespace tandem {
namespace {

struct ScalarSummary {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    const Tensor &tags = ctx.input(0), &values = ctx.input(1);
    if (tags.shape() != values.shape()) {
      return InvalidArgument("tags and values are not the same shape: ", tags.shape().ToString(), " != ", values.shape().ToString(),
                             tags.num_elements() == 1 ? absl::StrCat(" (tag '", tags.data<std::string>()[0], "')") : "");
    }
    tensorflow::Summary summary;
    for (int64_t i = 0; i < tags.num_elements(); ++i) {
      auto* value = summary.add_value();
      value->set_tag(tags.data<std::string>()[i]);
      value->set_simple_value(static_cast<float>(values.data<T>()[i]));
    }
    return SetSummaryOutput(ctx, summary);
  }
};

struct HistogramSummary {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(std::string tag, ReadScalarString(ctx.input(0), "tags"));
    Histogram histogram;
    for (T element : ctx.input(1).values<T>()) {
      double value = static_cast<double>(element);
      if (std::isnan(value)) return InvalidArgument("Nan in summary histogram for: ", ctx.node_name());
      if (std::isinf(value)) return InvalidArgument("Infinity in Histogram for: ", ctx.node_name());
      histogram.Add(value);
    }
    tensorflow::Summary summary;
    auto* value = summary.add_value();
    value->set_tag(tag);
    histogram.ToProto(value->mutable_histo());
    return SetSummaryOutput(ctx, summary);
  }
};

DEFINE_OP("ScalarSummary")
    .Input("tags: string")
    .Input("values: T")
    .Output("summary: string")
    .Attr("T: REAL")
    .Shape(ScalarOutputs)
    .Cpu(ForReal<ScalarSummary>())
    .NoGradient();

DEFINE_OP("HistogramSummary")
    .Input("tag: string")
    .Input("values: T")
    .Output("summary: string")
    .Attr("T: REAL = float")
    .Shape(ScalarOutputs)
    .Cpu(ForReal<HistogramSummary>())
    .NoGradient();

}  // namespace
}  // namespace tandem
