#include "ops/nn/window.h"

#include <algorithm>

namespace tandem {
namespace {

constexpr int64_t kMaxWindowNumber = int64_t{1} << 31;  // of strides, dilations, paddings: keeps products within int64

bool IsInRange(int64_t value, int64_t least) { return value >= least && value <= kMaxWindowNumber; }

// Splits a list with one number per dimension into those of the spatial dimensions and that of the channels.
Status SplitList(absl::string_view what, absl::Span<const int64_t> list, const WindowSpec& spec, int spatial_dims, std::vector<int64_t>* spatial,
                 int64_t* channel) {
  if (static_cast<int>(list.size()) != spatial_dims + 2) {
    return InvalidArgument("Sliding window ", what, " field must specify ", spatial_dims + 2, " dimensions, got ", list.size());
  }
  if (list[0] != 1) return Unimplemented("Current implementation does not yet support ", what, " in the batch dimension, got ", list[0]);
  *channel = list[spec.is_channels_first ? 1 : spatial_dims + 1];
  if (!IsInRange(*channel, 1)) return InvalidArgument("Sliding window ", what, " must be larger than 0, got ", *channel);
  spatial->clear();
  for (int i = 0; i < spatial_dims; ++i) {
    const int64_t value = list[spec.is_channels_first ? i + 2 : i + 1];
    if (!IsInRange(value, 1)) return InvalidArgument("Sliding window ", what, " must be larger than 0, got ", value);
    spatial->push_back(value);
  }
  return OkStatus();
}

Status ReadExplicitPadding(absl::Span<const int64_t> list, int spatial_dims, WindowSpec* spec) {
  if (static_cast<int>(list.size()) != 2 * (spatial_dims + 2)) {
    return InvalidArgument("explicit_paddings attribute must contain ", 2 * (spatial_dims + 2), " values, but got: ", list.size());
  }
  for (int i = 0; i < spatial_dims + 2; ++i) {
    const int64_t before = list[2 * i], after = list[2 * i + 1];
    if (!IsInRange(before, 0) || !IsInRange(after, 0)) {
      return InvalidArgument("All elements of explicit_paddings must be nonnegative, got ", before, " and ", after);
    }
    const bool is_spatial = i != 0 && i != (spec->is_channels_first ? 1 : spatial_dims + 1);
    if (is_spatial) {
      spec->explicit_padding.emplace_back(before, after);
    } else if (before != 0 || after != 0) {
      return InvalidArgument("Nonzero explicit padding in the batch or depth dimensions is not supported");
    }
  }
  return OkStatus();
}

}  // namespace

Status FitWindow(Padding padding, WindowDim* dim) {
  dim->out = kUnknownSize;
  if (dim->in == kUnknownSize || dim->window == kUnknownSize) {
    if (padding != Padding::kSame || dim->in == kUnknownSize) return OkStatus();
    dim->out = (dim->in + dim->stride - 1) / dim->stride;
    return OkStatus();
  }
  int64_t reach;  // of the window, from its first tap to its last
  if (dim->in < 0 || dim->window < 1 || __builtin_mul_overflow(dim->window - 1, dim->dilation, &reach) || reach >= INT64_MAX / 4 || dim->in >= INT64_MAX / 4) {
    return InvalidArgument("a window of ", dim->window, " with dilation ", dim->dilation, " cannot slide over ", dim->in);
  }
  ++reach;
  if (padding == Padding::kSame) {
    dim->out = (dim->in + dim->stride - 1) / dim->stride;
    const int64_t total = std::max<int64_t>(0, (dim->out - 1) * dim->stride + reach - dim->in);
    dim->before = total / 2;
    dim->after = total - dim->before;
    return OkStatus();
  }
  if (padding == Padding::kValid) dim->before = dim->after = 0;
  const int64_t room = dim->in + dim->before + dim->after - reach;
  const int64_t out = (room + dim->stride) / dim->stride;
  if (out < 0) {
    return InvalidArgument("Computed output size would be negative: ", out, " [input_size: ", dim->in, ", effective_filter_size: ", reach,
                           ", stride: ", dim->stride, "]");
  }
  dim->out = out;
  return OkStatus();
}

WindowDim WindowSpec::Dim(int i, int64_t in, int64_t window) const {
  WindowDim dim{.in = in, .window = window, .stride = strides[i], .dilation = dilations[i]};
  if (padding == Padding::kExplicit) std::tie(dim.before, dim.after) = explicit_padding[i];
  return dim;
}

Status SetWindow(absl::Span<const int64_t> sizes, absl::Span<const int64_t> strides, WindowSpec* spec) {
  const int spatial_dims = static_cast<int>(spec->dilations.size());
  RETURN_IF_ERROR(SplitList("ksize", sizes, *spec, spatial_dims, &spec->sizes, &spec->channel_size));
  return SplitList("strides", strides, *spec, spatial_dims, &spec->strides, &spec->channel_stride);
}

StatusOr<WindowSpec> ReadWindowSpec(const Attrs& attrs, int spatial_dims) {
  WindowSpec spec;
  const std::string format = attrs.Has("data_format") ? attrs.GetString("data_format") : "NHWC";
  if (format == "NCHW_VECT_C") return Unimplemented(attrs.op(), " with data_format NCHW_VECT_C");
  spec.is_channels_first = format == "NCHW" || format == "NCDHW";
  const std::string padding = attrs.GetString("padding");
  spec.padding = padding == "SAME" ? Padding::kSame : padding == "VALID" ? Padding::kValid : Padding::kExplicit;
  if (attrs.Has("strides")) {
    RETURN_IF_ERROR(SplitList("strides", attrs.GetInts("strides"), spec, spatial_dims, &spec.strides, &spec.channel_stride));
  }
  if (attrs.Has("ksize")) {
    RETURN_IF_ERROR(SplitList("ksize", attrs.GetInts("ksize"), spec, spatial_dims, &spec.sizes, &spec.channel_size));
  } else if (attrs.Has("strides") && spec.channel_stride != 1) {
    return Unimplemented("Current implementation does not yet support strides in the batch and depth dimensions, got ", spec.channel_stride);
  }
  spec.dilations.assign(spatial_dims, 1);
  if (attrs.Has("dilations")) {
    int64_t channel;
    RETURN_IF_ERROR(SplitList("dilations", attrs.GetInts("dilations"), spec, spatial_dims, &spec.dilations, &channel));
    if (channel != 1) return Unimplemented("Current implementation does not yet support dilations in the batch and depth dimensions, got ", channel);
  }
  if (spec.padding == Padding::kExplicit) {
    RETURN_IF_ERROR(ReadExplicitPadding(attrs.GetInts("explicit_paddings"), spatial_dims, &spec));
  } else if (attrs.Has("explicit_paddings") && !attrs.GetInts("explicit_paddings").empty()) {
    return InvalidArgument("explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT");
  }
  return spec;
}

}  // namespace tandem
