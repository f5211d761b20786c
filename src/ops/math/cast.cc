#include "ops/math/cast.h"

#include <algorithm>
#include <complex>
#include <cstring>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/math/low_precision.h"

namespace tandem {
namespace {

// ---- loops between float, double and integers ---------------------------------------------------------------------------

template <typename From, typename To>
void Convert(const void* from, void* to, int64_t count) {
  const From* source = static_cast<const From*>(from);
  To* target = static_cast<To*>(to);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<To, bool>) {
      target[i] = source[i] != From(0);
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && sizeof(To) < sizeof(int32_t)) {
      target[i] = static_cast<To>(static_cast<int32_t>(source[i]));  // wraps like the int32 that the processor makes
    } else if constexpr (std::is_floating_point_v<From> && std::is_same_v<To, uint32_t>) {
      target[i] = static_cast<To>(static_cast<int64_t>(source[i]));
    } else {
      target[i] = static_cast<To>(source[i]);
    }
  }
}

using ConvertFunction = void (*)(const void* from, void* to, int64_t count);

template <typename From>
ConvertFunction ConverterFrom(DataType to) {
  switch (to) {
    case kBool:
      return Convert<From, bool>;
    case kFloat:
      return Convert<From, float>;
    case kDouble:
      return Convert<From, double>;
    default:
      break;
  }
  if constexpr (std::is_floating_point_v<From>) {
    switch (to) {
      case kInt8:
        return Convert<From, int8_t>;
      case kInt16:
        return Convert<From, int16_t>;
      case kInt32:
        return Convert<From, int32_t>;
      case kInt64:
        return Convert<From, int64_t>;
      case kUint8:
        return Convert<From, uint8_t>;
      case kUint16:
        return Convert<From, uint16_t>;
      case kUint32:
        return Convert<From, uint32_t>;
      case kUint64:
        return Convert<From, uint64_t>;
      default:
        return nullptr;
    }
  } else {  // between integers only the width of the result matters
    switch (to) {
      case kInt8:
      case kUint8:
        return Convert<From, uint8_t>;
      case kInt16:
      case kUint16:
        return Convert<From, uint16_t>;
      case kInt32:
      case kUint32:
        return Convert<From, uint32_t>;
      case kInt64:
      case kUint64:
        return Convert<From, uint64_t>;
      default:
        return nullptr;
    }
  }
}

ConvertFunction FindConverter(DataType from, DataType to) {
  switch (from) {
    case kFloat:
      return ConverterFrom<float>(to);
    case kDouble:
      return ConverterFrom<double>(to);
    case kInt8:
      return ConverterFrom<int8_t>(to);
    case kInt16:
      return ConverterFrom<int16_t>(to);
    case kInt32:
      return ConverterFrom<int32_t>(to);
    case kInt64:
      return ConverterFrom<int64_t>(to);
    case kBool:
    case kUint8:
      return ConverterFrom<uint8_t>(to);
    case kUint16:
      return ConverterFrom<uint16_t>(to);
    case kUint32:
      return ConverterFrom<uint32_t>(to);
    case kUint64:
      return ConverterFrom<uint64_t>(to);
    default:
      return nullptr;
  }
}

// ---- half, bfloat16 and complex go through float or double --------------------------------------------------------------

// The type of a number that stands for `type` on its way; `type` itself where there is a direct loop.
DataType Stand(DataType type) {
  switch (type) {
    case kHalf:
    case kBfloat16:
    case kComplex64:
      return kFloat;
    case kComplex128:
      return kDouble;
    default:
      return type;
  }
}

void ToStand(DataType from_type, const void* from, void* to, int64_t count) {
  if (IsLowPrecision(from_type)) return WidenToFloat(from_type, from, static_cast<float*>(to), count);
  if (from_type == kComplex64) {
    for (int64_t i = 0; i < count; ++i) static_cast<float*>(to)[i] = static_cast<const std::complex<float>*>(from)[i].real();
  } else {
    for (int64_t i = 0; i < count; ++i) static_cast<double*>(to)[i] = static_cast<const std::complex<double>*>(from)[i].real();
  }
}

void FromStand(const void* from, DataType to_type, void* to, int64_t count) {
  if (IsLowPrecision(to_type)) return NarrowFromFloat(static_cast<const float*>(from), to_type, to, count);
  if (to_type == kComplex64) {
    for (int64_t i = 0; i < count; ++i) static_cast<std::complex<float>*>(to)[i] = static_cast<const float*>(from)[i];
  } else {
    for (int64_t i = 0; i < count; ++i) static_cast<std::complex<double>*>(to)[i] = static_cast<const double*>(from)[i];
  }
}

// ---- the op --------------------------------------------------------------------------------------------------------------

int MantissaBits(DataType type) {
  switch (type) {
    case kBfloat16:
      return 7;
    case kHalf:
      return 10;
    case kFloat:
    case kComplex64:
      return 23;
    case kDouble:
    case kComplex128:
      return 52;
    default:
      return 0;
  }
}

// Clears the mantissa bits that the result has no room for, so that rounding finds nothing to round.
void ClearBits(Tensor* x, int bits) {
  if (x->dtype() == kFloat || x->dtype() == kComplex64) {
    uint32_t* words = static_cast<uint32_t*>(x->mutable_raw_data());
    for (size_t i = 0; i < x->byte_size() / sizeof(uint32_t); ++i) words[i] &= ~uint32_t{0} << bits;
  } else {
    uint64_t* words = static_cast<uint64_t*>(x->mutable_raw_data());
    for (size_t i = 0; i < x->byte_size() / sizeof(uint64_t); ++i) words[i] &= ~uint64_t{0} << bits;
  }
}

struct Cast {
  explicit Cast(const Attrs& attrs) : from(attrs.GetType("SrcT")), to(attrs.GetType("DstT")), cleared_bits(0) {
    if (from != to && !IsCastable(from, to)) {
      attrs.Fail(Unimplemented("Cast ", DataTypeName(from), " to ", DataTypeName(to), " is not supported"));
      return;
    }
    const int from_bits = MantissaBits(from), to_bits = MantissaBits(to);
    if (attrs.GetBool("Truncate") && from_bits >= 23 && to_bits > 0) cleared_bits = std::max(0, from_bits - to_bits);
  }

  Status Run(KernelContext& ctx) const {
    if (from == to) {
      ctx.set_output(0, ctx.input(0));
      return OkStatus();
    }
    Tensor x = ctx.input(0);
    if (cleared_bits > 0) {
      x = x.Clone();
      ClearBits(&x, cleared_bits);
    }
    ASSIGN_OR_RETURN(Tensor * y, ctx.Allocate(0, x.shape()));
    CastElements(from, x.raw_data(), to, y->mutable_raw_data(), x.num_elements());
    return OkStatus();
  }

  DataType from, to;
  int cleared_bits;
};

// Gradients pass between floating and complex types only.
Status CastGradient(GradientScope& g) {
  const DataType from = g.input(0).dtype(), to = g.output(0).dtype();
  const auto is_continuous = [](DataType type) { return IsFloating(type) || IsComplex(type); };
  if (!is_continuous(from) || !is_continuous(to)) return g.Return({Output()});
  return g.Return({g.Op("Cast", {g.grad(0)}, {{"DstT", from}})});
}

DEFINE_OP("Cast")
    .Input("x: SrcT")
    .Output("y: DstT")
    .Attr("SrcT: type")
    .Attr("DstT: type")
    .Attr("Truncate: bool = false")
    .Shape(SameAsInput0)
    .Cpu(AnyType<Cast>())
    .Gradient(CastGradient);

}  // namespace

bool IsCastable(DataType from, DataType to) { return FindConverter(Stand(from), Stand(to)) != nullptr; }

void CastElements(DataType from_type, const void* from, DataType to_type, void* to, int64_t count) {
  if (from_type == to_type) {
    std::memcpy(to, from, static_cast<size_t>(count) * DataTypeSize(to_type));
    return;
  }
  if (from_type == kComplex64 && to_type == kComplex128) return Convert<float, double>(from, to, 2 * count);
  if (from_type == kComplex128 && to_type == kComplex64) return Convert<double, float>(from, to, 2 * count);
  const DataType from_stand = Stand(from_type), to_stand = Stand(to_type);
  const ConvertFunction convert = FindConverter(from_stand, to_stand);
  if (from_stand == from_type && to_stand == to_type) return convert(from, to, count);

  // In pieces that fit on the stack.
  constexpr int64_t kPiece = 256;
  alignas(64) double first[kPiece], second[kPiece];
  const char* source = static_cast<const char*>(from);
  char* target = static_cast<char*>(to);
  const size_t from_size = DataTypeSize(from_type), to_size = DataTypeSize(to_type);
  for (int64_t start = 0; start < count; start += kPiece) {
    const int64_t size = std::min(kPiece, count - start);
    const void* number = source + start * from_size;
    if (from_stand != from_type) {
      ToStand(from_type, number, first, size);
      number = first;
    }
    void* result = to_stand == to_type ? target + start * to_size : static_cast<void*>(second);
    convert(number, result, size);
    if (to_stand != to_type) FromStand(result, to_type, target + start * to_size, size);
  }
}

}  // namespace tandem
