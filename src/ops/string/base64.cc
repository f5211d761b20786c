// EncodeBase64 and DecodeBase64, in the alphabet that is safe in URLs.
#include <array>
#include <string>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"

namespace tandem {
namespace {

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::array<int8_t, 256> MakeValues() {
  std::array<int8_t, 256> values;
  values.fill(-1);
  for (int8_t i = 0; i < 64; ++i) values[static_cast<unsigned char>(kAlphabet[i])] = i;
  return values;
}

std::string Encode(absl::string_view data, bool pads) {
  std::string text;
  text.reserve((data.size() + 2) / 3 * 4);
  for (size_t i = 0; i < data.size(); i += 3) {
    size_t count = std::min<size_t>(data.size() - i, 3);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < count ? static_cast<unsigned char>(data[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) {
      if (k <= count) {
        text.push_back(kAlphabet[bits >> (18 - 6 * k) & 63]);
      } else if (pads) {
        text.push_back('=');
      }
    }
  }
  return text;
}

StatusOr<std::string> Decode(absl::string_view text) {
  static const std::array<int8_t, 256> kValues = MakeValues();
  // Only a last group of four may end in padding.
  if (text.size() % 4 == 0 && !text.empty() && text.back() == '=') text.remove_suffix(text[text.size() - 2] == '=' ? 2 : 1);
  for (char c : text) {
    if (kValues[static_cast<unsigned char>(c)] < 0) return InvalidArgument("Invalid character found in base64.");
  }
  if (text.size() % 4 == 1) return InvalidArgument("Base64 string length cannot be 1 modulo 4.");
  std::string data;
  data.reserve(text.size() / 4 * 3 + 2);
  for (size_t i = 0; i < text.size(); i += 4) {
    size_t count = std::min<size_t>(text.size() - i, 4);
    uint32_t bits = 0;
    for (size_t k = 0; k < 4; ++k) bits = bits << 6 | (k < count ? static_cast<uint32_t>(kValues[static_cast<unsigned char>(text[i + k])]) : 0);
    for (size_t k = 0; k + 1 < count; ++k) data.push_back(static_cast<char>(bits >> (16 - 8 * k) & 255));
  }
  return data;
}

struct EncodeBase64 {
  explicit EncodeBase64(const Attrs& attrs) : pads(attrs.GetBool("pad")) {}

  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, ctx.input(0).shape()));
    std::string* to = output->mutable_data<std::string>();
    for (const std::string& data : ctx.input(0).values<std::string>()) *to++ = Encode(data, pads);
    return OkStatus();
  }

  bool pads;
};

struct DecodeBase64 {
  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, ctx.input(0).shape()));
    std::string* to = output->mutable_data<std::string>();
    for (const std::string& text : ctx.input(0).values<std::string>()) {
      ASSIGN_OR_RETURN(*to++, Decode(text));
    }
    return OkStatus();
  }
};

DEFINE_OP("EncodeBase64")
    .Input("input: string")
    .Output("output: string")
    .Attr("pad: bool = false")
    .Shape(SameAsInput0)
    .Cpu(AnyType<EncodeBase64>())
    .NoGradient();

DEFINE_OP("DecodeBase64").Input("input: string").Output("output: string").Shape(SameAsInput0).Cpu(AnyType<DecodeBase64>()).NoGradient();

}  // namespace
}  // namespace tandem
