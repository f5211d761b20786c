#include "tandem/dtype.h"

#ifdef __F16C__
#include <immintrin.h>
#endif

#include <bit>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tandem/tensor.h"

namespace tandem {
namespace {

enum class Kind { kReal, kInteger, kComplex, kOther };

struct TypeRow {
  const char* name;
  size_t size;  // 0: Tandem cannot hold it
  bool is_plain;
  Kind kind;
};

// Row i describes DataType i.
constexpr TypeRow kTypes[] = {
    {"invalid", 0, false, Kind::kOther},
    {"float", 4, true, Kind::kReal},
    {"double", 8, true, Kind::kReal},
    {"int32", 4, true, Kind::kInteger},
    {"uint8", 1, true, Kind::kInteger},
    {"int16", 2, true, Kind::kInteger},
    {"int8", 1, true, Kind::kInteger},
    {"string", sizeof(std::string), false, Kind::kOther},
    {"complex64", 8, true, Kind::kComplex},
    {"int64", 8, true, Kind::kInteger},
    {"bool", 1, true, Kind::kOther},
    {"qint8", 1, true, Kind::kOther},
    {"quint8", 1, true, Kind::kOther},
    {"qint32", 4, true, Kind::kOther},
    {"bfloat16", 2, true, Kind::kReal},
    {"qint16", 2, true, Kind::kOther},
    {"quint16", 2, true, Kind::kOther},
    {"uint16", 2, true, Kind::kInteger},
    {"complex128", 16, true, Kind::kComplex},
    {"half", 2, true, Kind::kReal},
    {"resource", sizeof(ResourceHandle), false, Kind::kOther},
    {"variant", 0, false, Kind::kOther},
    {"uint32", 4, true, Kind::kInteger},
    {"uint64", 8, true, Kind::kInteger},
};
constexpr int kTypeCount = sizeof(kTypes) / sizeof(kTypes[0]);

const TypeRow& RowOf(DataType type) {
  int number = type;
  return kTypes[number > 0 && number < kTypeCount ? number : 0];
}

}  // namespace

std::string DataTypeName(DataType type) {
  int number = BaseType(type);
  if (number < 0 || number >= kTypeCount) return absl::StrCat("unknown dtype ", static_cast<int>(type));
  return absl::StrCat(kTypes[number].name, IsRef(type) ? "_ref" : "");
}

DataType DataTypeFromName(absl::string_view name) {
  absl::string_view rest = name;
  std::string lower;
  if (absl::ConsumePrefix(&rest, "DT_")) {
    lower = absl::AsciiStrToLower(rest);
    rest = lower;
  }
  bool is_ref = absl::ConsumeSuffix(&rest, "_ref");
  for (int i = 1; i < kTypeCount; ++i) {
    if (rest == kTypes[i].name) return is_ref ? MakeRef(static_cast<DataType>(i)) : static_cast<DataType>(i);
  }
  return kInvalid;
}

size_t DataTypeSize(DataType type) { return RowOf(type).size; }
bool IsPlainData(DataType type) { return RowOf(type).is_plain; }
bool IsFloating(DataType type) { return RowOf(type).kind == Kind::kReal; }
bool IsInteger(DataType type) { return RowOf(type).kind == Kind::kInteger; }
bool IsComplex(DataType type) { return RowOf(type).kind == Kind::kComplex; }

#ifdef __F16C__

uint16_t Half::FromFloat(float value) { return static_cast<uint16_t>(_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT)); }
float Half::ToFloat(uint16_t bits) { return _cvtsh_ss(bits); }

#else

uint16_t Half::FromFloat(float value) {
  uint32_t wide = std::bit_cast<uint32_t>(value);
  uint16_t sign = static_cast<uint16_t>((wide >> 16) & 0x8000u);
  wide &= 0x7fffffffu;
  if (wide > 0x7f800000u) return sign | 0x7e00u | static_cast<uint16_t>((wide >> 13) & 0x3ffu);  // NaN stays NaN
  if (wide >= 0x477ff000u) return sign | 0x7c00u;                                                // 65520 and more round to infinity
  if (wide < 0x38800000u) {
    // Below the smallest normal half, 2^-14: adding 0.5 leaves the value as a multiple of 2^-24 in the last bits of the mantissa, which
    // is the scale of subnormal halves; the addition rounds to nearest even.
    float shifted = std::bit_cast<float>(wide) + 0.5f;
    return sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(shifted) - 0x3f000000u);
  }
  wide += 0xfffu + ((wide >> 13) & 1u);
  return sign | static_cast<uint16_t>((wide - 0x38000000u) >> 13);  // exponent bias 127 -> 15
}

float Half::ToFloat(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  uint32_t exponent = (bits >> 10) & 0x1fu;
  uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13) | (mantissa != 0 ? 0x400000u : 0u));
  if (exponent == 0) {
    float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

#endif

}  // namespace tandem
