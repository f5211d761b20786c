// AsString and StringToNumber: numbers as text, and back.
#include <cctype>
#include <cmath>
#include <complex>
#include <cstdio>
#include <limits>
#include <string>
#include <type_traits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"

namespace tandem {
namespace {

template <typename... Args>
std::string Printed(const std::string& format, Args... args) {
  char small[128];
  int size = std::snprintf(small, sizeof small, format.c_str(), args...);
  if (size < 0) return "";
  if (static_cast<size_t>(size) < sizeof small) return std::string(small, static_cast<size_t>(size));
  std::string text(static_cast<size_t>(size) + 1, '\0');
  std::snprintf(text.data(), text.size(), format.c_str(), args...);
  text.pop_back();
  return text;
}

constexpr int64_t kMaxWidth = 1 << 16;  // of a number; more is a mistake, and could fill the memory

// The attrs make a printf format: "%", fill, width, precision; the type adds its letter.
struct AsString {
  explicit AsString(const Attrs& attrs) : is_scientific(attrs.GetBool("scientific")), is_shortest(attrs.GetBool("shortest")) {
    DataType type = attrs.GetType("T");
    int64_t precision = attrs.GetInt("precision"), width = attrs.GetInt("width");
    std::string fill = attrs.GetString("fill");
    bool is_real = IsFloating(type) || IsComplex(type) || type == kString;
    if (!is_real && (is_scientific || is_shortest)) {
      attrs.Fail(InvalidArgument("scientific and shortest format not supported for datatype ", DataTypeName(type)));
    } else if (!is_real && precision >= 0) {
      attrs.Fail(InvalidArgument("precision not supported for datatype ", DataTypeName(type)));
    } else if (fill.size() > 1) {
      attrs.Fail(InvalidArgument("Fill string must be one or fewer characters"));
    } else if (is_scientific && is_shortest) {
      attrs.Fail(InvalidArgument("Cannot select both scientific and shortest notation"));
    } else if (!fill.empty() && !absl::StrContains(" +-0#", fill)) {
      attrs.Fail(InvalidArgument("Fill argument not supported: \"", fill, "\""));
    } else if (precision > kMaxWidth || width > kMaxWidth) {
      attrs.Fail(InvalidArgument("width and precision must be at most ", kMaxWidth, ", got ", width, " and ", precision));
    }
    format = "%" + fill;
    if (width > -1) absl::StrAppend(&format, width);
    if (precision > -1) absl::StrAppend(&format, ".", precision);
    const char* letter = is_shortest ? "g" : is_scientific ? "e" : "f";
    if (IsComplex(type)) {
      format = absl::StrCat("(", format, letter, ",", format, letter, ")");
    } else if (IsFloating(type)) {
      format += letter;
    } else {
      format += type == kString ? "s" : type == kUint8 || type == kUint16 || type == kUint32 || type == kUint64 ? "llu" : "lld";
    }
  }

  template <typename T>
  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, input.shape()));
    std::string* to = output->mutable_data<std::string>();
    for (const T& value : input.values<T>()) {
      if constexpr (std::is_same_v<T, bool>) {
        *to++ = value ? "true" : "false";
      } else if constexpr (std::is_same_v<T, std::string>) {
        *to++ = Printed(format, value.c_str());
      } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
        *to++ = Printed(format, static_cast<double>(value.real()), static_cast<double>(value.imag()));
      } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
        *to++ = Printed(format, static_cast<long long>(value));  // NOLINT: what printf's ll means
      } else if constexpr (std::is_integral_v<T>) {
        *to++ = Printed(format, static_cast<unsigned long long>(value));  // NOLINT
      } else {
        *to++ = Printed(format, static_cast<double>(value));
      }
    }
    return OkStatus();
  }

  bool is_scientific, is_shortest;
  std::string format;
};

// Decimal digits with at most one point and an exponent, or "inf", "nan"; hexadecimal integers. absl's parser alone takes more.
bool IsFloatText(absl::string_view text) {
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  if (absl::EqualsIgnoreCase(text, "inf") || absl::EqualsIgnoreCase(text, "nan")) return true;
  size_t i = 0, digits = 0;
  auto skip_digits = [&] {
    for (; i < text.size() && absl::ascii_isdigit(text[i]); ++i) ++digits;
  };
  skip_digits();
  if (i < text.size() && text[i] == '.') {
    ++i;
    skip_digits();
  }
  if (digits == 0) return false;
  if (i == text.size()) return true;
  if (text[i] != 'e' && text[i] != 'E') return false;
  ++i;
  if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
  digits = 0;
  skip_digits();
  return digits > 0 && i == text.size();
}

bool ParseHex(absl::string_view text, double* value) {
  bool is_negative = absl::ConsumePrefix(&text, "-");
  if (!is_negative) absl::ConsumePrefix(&text, "+");
  if (!absl::ConsumePrefix(&text, "0x") && !absl::ConsumePrefix(&text, "0X")) return false;
  uint64_t integer;
  if (text.empty() || !absl::SimpleHexAtoi(text, &integer) || !absl::ascii_isxdigit(text[0])) return false;
  *value = is_negative ? -static_cast<double>(integer) : static_cast<double>(integer);
  return true;
}

bool Parse(absl::string_view text, float* value) {
  if (IsFloatText(text)) return absl::SimpleAtof(text, value);
  double wide;
  if (!ParseHex(text, &wide)) return false;
  *value = static_cast<float>(wide);
  return true;
}
bool Parse(absl::string_view text, double* value) { return IsFloatText(text) ? absl::SimpleAtod(text, value) : ParseHex(text, value); }
template <typename T>
bool Parse(absl::string_view text, T* value) {
  return !absl::StartsWith(text, "+") && absl::SimpleAtoi(text, value);
}

struct StringToNumber {
  template <typename T>
  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, input.shape()));
    T* to = output->mutable_data<T>();
    for (const std::string& text : input.values<std::string>()) {
      absl::string_view trimmed = absl::StripAsciiWhitespace(text);
      if (std::is_floating_point_v<T> && trimmed.empty() && !text.empty()) {
        *to++ = T(0);  // spaces alone are zero, as TensorFlow has it
      } else if (!Parse(trimmed, to++)) {
        return InvalidArgument("StringToNumberOp could not correctly convert string: ", text);
      }
    }
    return OkStatus();
  }
};

DEFINE_OP("AsString")
    .Input("input: T")
    .Output("output: string")
    .Attr("T: ARITH + {bool, variant, string}")
    .Attr("precision: int = -1")
    .Attr("scientific: bool = false")
    .Attr("shortest: bool = false")
    .Attr("width: int = -1")
    .Attr("fill: string = ''")
    .Shape(SameAsInput0)
    .Cpu(ForTypes<AsString, float, double, int32_t, uint8_t, int16_t, int8_t, int64_t, BFloat16, uint16_t, Half, uint32_t, uint64_t, std::complex<float>,
                  std::complex<double>, bool, std::string>())
    .NoGradient();

DEFINE_OP("StringToNumber")
    .Input("string_tensor: string")
    .Output("output: out_type")
    .Attr("out_type: {float, double, int32, int64, uint32, uint64} = float")
    .Shape(SameAsInput0)
    .Cpu(ForTypes<StringToNumber, float, double, int32_t, int64_t, uint32_t, uint64_t>("out_type"))
    .NoGradient();

}  // namespace
}  // namespace tandem
