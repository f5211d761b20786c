// Element types. Numbers and names are TensorFlow's DataType (proto/types.proto); a reference type is the value type + 100.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/string_view.h"

namespace tandem {

enum DataType : int {
  kInvalid = 0,
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kComplex64 = 8,
  kInt64 = 9,
  kBool = 10,
  kQint8 = 11,
  kQuint8 = 12,
  kQint32 = 13,
  kBfloat16 = 14,
  kQint16 = 15,
  kQuint16 = 16,
  kUint16 = 17,
  kComplex128 = 18,
  kHalf = 19,
  kResource = 20,
  kVariant = 21,
  kUint32 = 22,
  kUint64 = 23,
};

constexpr int kRefOffset = 100;
constexpr bool IsRef(DataType type) { return type > kRefOffset; }
constexpr DataType MakeRef(DataType type) { return static_cast<DataType>(type + kRefOffset); }
constexpr DataType BaseType(DataType type) { return IsRef(type) ? static_cast<DataType>(type - kRefOffset) : type; }

// "float", "int32", "string", "float_ref" …, as in TensorFlow's messages. "unknown dtype N" otherwise.
std::string DataTypeName(DataType type);
// From "float" or "DT_FLOAT"; kInvalid if there is no such type.
DataType DataTypeFromName(absl::string_view name);
// Bytes of an element in memory; 0 for kInvalid and types that Tandem cannot hold.
size_t DataTypeSize(DataType type);
// True for types whose bytes may be copied and sent as they are: all but string, resource and variant.
bool IsPlainData(DataType type);
bool IsFloating(DataType type);   // half, bfloat16, float, double
bool IsInteger(DataType type);    // signed and unsigned, without bool and the quantised types
bool IsComplex(DataType type);

// IEEE half precision. Arithmetic happens in float: every operand converts, every result is rounded to nearest even.
class Half {
 public:
  Half() = default;
  Half(float value) : bits_(FromFloat(value)) {}  // NOLINT: implicit as between built-in types
  operator float() const { return ToFloat(bits_); }
  static Half FromBits(uint16_t bits) {
    Half half;
    half.bits_ = bits;
    return half;
  }
  uint16_t bits() const { return bits_; }
  Half& operator+=(float value) { return *this = *this + value; }
  Half& operator-=(float value) { return *this = *this - value; }
  Half& operator*=(float value) { return *this = *this * value; }
  Half& operator/=(float value) { return *this = *this / value; }

 private:
  static uint16_t FromFloat(float value);
  static float ToFloat(uint16_t bits);
  uint16_t bits_;
};

// The upper half of a float. Rounds to nearest even.
class BFloat16 {
 public:
  BFloat16() = default;
  BFloat16(float value) : bits_(FromFloat(value)) {}  // NOLINT
  operator float() const {
    uint32_t wide = static_cast<uint32_t>(bits_) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof value);
    return value;
  }
  static BFloat16 FromBits(uint16_t bits) {
    BFloat16 made;
    made.bits_ = bits;
    return made;
  }
  uint16_t bits() const { return bits_; }
  BFloat16& operator+=(float value) { return *this = *this + value; }
  BFloat16& operator-=(float value) { return *this = *this - value; }
  BFloat16& operator*=(float value) { return *this = *this * value; }
  BFloat16& operator/=(float value) { return *this = *this / value; }

 private:
  static uint16_t FromFloat(float value) {
    uint32_t wide;
    std::memcpy(&wide, &value, sizeof wide);
    if ((wide & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((wide >> 16) | 0x40u);  // NaN stays NaN
    return static_cast<uint16_t>((wide + 0x7fffu + ((wide >> 16) & 1u)) >> 16);
  }
  uint16_t bits_;
};

struct ResourceHandle;  // include/tandem/tensor.h

// kFloat for float, kInt64 for int64_t …: DataTypeOf<T>::value.
template <typename T>
struct DataTypeOf;
#define TANDEM_DATA_TYPE(Type, Value)                 \
  template <>                                         \
  struct DataTypeOf<Type> {                           \
    static constexpr DataType value = Value;          \
  };
TANDEM_DATA_TYPE(float, kFloat)
TANDEM_DATA_TYPE(double, kDouble)
TANDEM_DATA_TYPE(int32_t, kInt32)
TANDEM_DATA_TYPE(uint8_t, kUint8)
TANDEM_DATA_TYPE(int16_t, kInt16)
TANDEM_DATA_TYPE(int8_t, kInt8)
TANDEM_DATA_TYPE(std::string, kString)
TANDEM_DATA_TYPE(std::complex<float>, kComplex64)
TANDEM_DATA_TYPE(int64_t, kInt64)
TANDEM_DATA_TYPE(bool, kBool)
TANDEM_DATA_TYPE(BFloat16, kBfloat16)
TANDEM_DATA_TYPE(uint16_t, kUint16)
TANDEM_DATA_TYPE(std::complex<double>, kComplex128)
TANDEM_DATA_TYPE(Half, kHalf)
TANDEM_DATA_TYPE(ResourceHandle, kResource)
TANDEM_DATA_TYPE(uint32_t, kUint32)
TANDEM_DATA_TYPE(uint64_t, kUint64)
#undef TANDEM_DATA_TYPE

}  // namespace tandem
