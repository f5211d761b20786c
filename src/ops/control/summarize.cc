#include "ops/control/summarize.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace tandem {
namespace {

// The shorter of two precisions, if it gives the same number back.
std::string FloatText(double value, int short_digits, int long_digits, bool is_double) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*g", short_digits, value);
  bool is_exact = is_double ? std::strtod(text, nullptr) == value : std::strtof(text, nullptr) == static_cast<float>(value);
  if (!is_exact && value == value) std::snprintf(text, sizeof text, "%.*g", long_digits, value);
  if (value != value) return "nan";
  return text;
}

std::string ElementText(const Tensor& tensor, int64_t i, bool in_quotes) {
  switch (tensor.dtype()) {
    case kFloat: return FloatText(tensor.data<float>()[i], 6, 9, false);
    case kHalf: return FloatText(tensor.data<Half>()[i], 6, 9, false);
    case kBfloat16: return FloatText(tensor.data<BFloat16>()[i], 6, 9, false);
    case kDouble: return FloatText(tensor.data<double>()[i], 15, 17, true);
    case kInt8: return absl::StrCat(static_cast<int>(tensor.data<int8_t>()[i]));
    case kUint8: return absl::StrCat(static_cast<int>(tensor.data<uint8_t>()[i]));
    case kInt16: return absl::StrCat(tensor.data<int16_t>()[i]);
    case kUint16: return absl::StrCat(tensor.data<uint16_t>()[i]);
    case kInt32: return absl::StrCat(tensor.data<int32_t>()[i]);
    case kUint32: return absl::StrCat(tensor.data<uint32_t>()[i]);
    case kInt64: return absl::StrCat(tensor.data<int64_t>()[i]);
    case kUint64: return absl::StrCat(tensor.data<uint64_t>()[i]);
    case kBool: return tensor.data<bool>()[i] ? "1" : "0";
    case kString: {
      std::string text = absl::Utf8SafeCEscape(tensor.data<std::string>()[i]);
      return in_quotes ? absl::StrCat("\"", text, "\"") : text;
    }
    default: return "?";
  }
}

struct FrontWriter {
  const Tensor& tensor;
  int64_t limit;
  std::string text;
  int64_t next = 0;

  void WriteDim(int dim) {
    const Shape& shape = tensor.shape();
    bool is_last = dim == shape.rank() - 1;
    for (int64_t i = 0; i < shape.dim(dim); ++i) {
      if (next >= limit) {
        if (is_last && dim != 0) text += "...";
        return;
      }
      if (is_last) {
        if (i > 0) text += " ";
        text += ElementText(tensor, next++, false);
      } else {
        text += "[";
        WriteDim(dim + 1);
        text += "]";
      }
    }
  }
};

struct EndsWriter {
  const Tensor& tensor;
  int64_t max_at_ends;
  std::string text;

  void WriteSpacing(int dim) {
    int depth = tensor.shape().rank() - dim - 1;
    if (depth == 0) {
      text += " ";
    } else {
      text.append(depth, '\n').append(dim + 1, ' ');
    }
  }

  void WriteDim(int dim, int64_t first) {
    const Shape& shape = tensor.shape();
    if (dim == shape.rank()) {
      text += ElementText(tensor, first, true);
      return;
    }
    int64_t stride = 1;
    for (int i = dim + 1; i < shape.rank(); ++i) stride *= shape.dim(i);
    int64_t count = shape.dim(dim);
    int64_t front = std::min(max_at_ends, count), back = std::max(front, count - max_at_ends);
    text += "[";
    for (int64_t i = 0; i < front; ++i) {
      if (i > 0) WriteSpacing(dim);
      WriteDim(dim + 1, first + i * stride);
    }
    if (back > front) {
      WriteSpacing(dim);
      text += "...";
    }
    for (int64_t i = back; i < count; ++i) {
      WriteSpacing(dim);
      WriteDim(dim + 1, first + i * stride);
    }
    text += "]";
  }
};

}  // namespace

std::string SummarizeFront(const Tensor& tensor, int64_t max_elements) {
  int64_t count = tensor.num_elements();
  int64_t limit = max_elements < 0 ? count : std::min(max_elements, count);
  FrontWriter writer{tensor, limit, {}};
  if (tensor.shape().is_scalar()) {
    if (limit > 0) writer.text = ElementText(tensor, 0, false);
  } else {
    writer.WriteDim(0);
  }
  if (count > limit) writer.text += "...";
  return writer.text;
}

std::string SummarizeEnds(const Tensor& tensor, int64_t max_at_ends) {
  int64_t count = tensor.num_elements();
  EndsWriter writer{tensor, max_at_ends < 0 ? count : std::min(max_at_ends, count), {}};
  writer.WriteDim(0, 0);
  return writer.text;
}

}  // namespace tandem
