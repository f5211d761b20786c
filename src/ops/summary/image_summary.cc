// ImageSummary: pictures as PNG files.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ops/summary/png.h"
#include "ops/summary/summary_output.h"
#include "proto/summary.pb.h"

namespace tandem {
namespace {

template <typename T>
bool IsFinitePixel(const T* pixel, int64_t channels) {
  return std::all_of(pixel, pixel + channels, [](T value) { return std::isfinite(static_cast<double>(value)); });
}

// How numbers become bytes: value * scale + offset. The values may have any range, so that of each picture is spread: up to 255 if none is
// negative, by 127 to both sides of 128 otherwise. Arithmetic is in T, as in TensorFlow, since the result is cut to an integer.
template <typename T>
struct Spread {
  T scale, offset;

  Spread(const T* pixels, int64_t pixel_count, int64_t channels) {
    float smallest = std::numeric_limits<float>::infinity(), largest = -smallest;
    for (int64_t i = 0; i < pixel_count; ++i) {
      const T* pixel = pixels + i * channels;
      if (!IsFinitePixel(pixel, channels)) continue;
      for (int64_t c = 0; c < channels; ++c) {
        smallest = std::min(smallest, static_cast<float>(pixel[c]));
        largest = std::max(largest, static_cast<float>(pixel[c]));
      }
    }
    constexpr float kAlmostZero = 1e-6f;
    bool has_negative = smallest < 0;
    float extreme = has_negative ? std::max(std::abs(smallest), std::abs(largest)) : largest;
    scale = T(extreme < kAlmostZero ? 0.0f : (has_negative ? 127.0f : 255.0f) / extreme);
    offset = T(has_negative ? 128.0f : 0.0f);
  }

  uint8_t operator()(T value) const {
    T product = value * scale;
    T sum = product + offset;
    return static_cast<uint8_t>(std::clamp(static_cast<float>(sum), 0.0f, 255.0f));
  }
};

template <typename T>
void ToBytes(const T* pixels, int64_t pixel_count, int64_t channels, const std::vector<uint8_t>& bad_color, std::vector<uint8_t>* bytes) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    bytes->assign(pixels, pixels + pixel_count * channels);
  } else {
    Spread<T> spread(pixels, pixel_count, channels);
    bytes->resize(static_cast<size_t>(pixel_count * channels));
    for (int64_t i = 0; i < pixel_count; ++i) {
      const T* pixel = pixels + i * channels;
      uint8_t* to = bytes->data() + i * channels;
      if (IsFinitePixel(pixel, channels)) {
        std::transform(pixel, pixel + channels, to, spread);
      } else {
        std::copy_n(bad_color.begin(), channels, to);
      }
    }
  }
}

struct ImageSummary {
  explicit ImageSummary(const Attrs& attrs) : max_images(attrs.GetInt("max_images")) {
    StatusOr<Tensor> color = attrs.GetTensor("bad_color");
    if (!color.ok()) {
      attrs.Fail(color.status());
    } else if (color->dtype() != kUint8) {
      attrs.Fail(InvalidArgument("bad_color must be uint8, got ", DataTypeName(color->dtype())));
    } else if (color->shape().rank() != 1) {
      attrs.Fail(InvalidArgument("bad_color must be a vector, got shape ", color->shape().ToString()));
    } else {
      bad_color.assign(color->data<uint8_t>(), color->data<uint8_t>() + color->num_elements());
    }
  }

  template <typename T>
  Status Run(KernelContext& ctx) const {
    const Tensor &tag = ctx.input(0), &tensor = ctx.input(1);
    const Shape& shape = tensor.shape();
    if (!tag.shape().is_scalar()) return InvalidArgument("Tags must be a scalar");
    if (shape.rank() != 4 || (shape.dim(3) != 1 && shape.dim(3) != 3 && shape.dim(3) != 4)) {
      return InvalidArgument("Tensor must be 4-D with last dim 1, 3, or 4, not ", shape.ToString());
    }
    int64_t height = shape.dim(1), width = shape.dim(2), channels = shape.dim(3);
    if (shape.dim(0) > 0 && (height == 0 || width == 0)) return InvalidArgument("input tensor must have non-zero dims. Found: ", shape.ToString());
    constexpr int64_t kLongestSide = 1000000;  // libpng's limit
    if (height > kLongestSide || width > kLongestSide) return InvalidArgument("Tensor too large for summary ", shape.ToString());
    if (!std::is_same_v<T, uint8_t> && channels > static_cast<int64_t>(bad_color.size())) {
      return InvalidArgument("expected depth <= bad_color.size, got depth = ", channels, ", bad_color.size = ", bad_color.size());
    }
    tensorflow::Summary summary;
    std::vector<uint8_t> bytes;
    for (int64_t i = 0; i < std::min(max_images, shape.dim(0)); ++i) {
      ToBytes(tensor.data<T>() + i * height * width * channels, height * width, channels, bad_color, &bytes);
      auto* value = summary.add_value();
      value->set_tag(NumberedTag(tag.scalar<std::string>(), "image", i, max_images));
      auto* image = value->mutable_image();
      image->set_height(static_cast<int32_t>(height));
      image->set_width(static_cast<int32_t>(width));
      image->set_colorspace(static_cast<int32_t>(channels));
      ASSIGN_OR_RETURN(*image->mutable_encoded_image_string(),
                       EncodePng(bytes, static_cast<int>(height), static_cast<int>(width), static_cast<int>(channels)));
    }
    return SetSummaryOutput(ctx, summary);
  }

  int64_t max_images;
  std::vector<uint8_t> bad_color;  // of a pixel that is not a number, or infinite
};

DEFINE_OP("ImageSummary")
    .Input("tag: string")
    .Input("tensor: T")
    .Output("summary: string")
    .Attr("max_images: int >= 1 = 3")
    .Attr("T: {uint8, float, half, double} = float")
    .Attr("bad_color: tensor = uint8 [255,0,0,255]")
    .Shape(ScalarOutputs)
    .Cpu(ForTypes<ImageSummary, uint8_t, float, Half, double>())
    .NoGradient();

}  // namespace
}  // namespace tandem
