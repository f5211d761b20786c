#include "ops/array/row_keys.h"

#include <complex>

namespace tandem {
namespace {

void AppendBytes(const void* data, size_t size, std::string* key) { key->append(static_cast<const char*>(data), size); }

// `salt` is different for each element, so that two NaNs differ.
template <typename T>
void AppendFloat(T value, int64_t salt, std::string* key) {
  double wide = static_cast<double>(value);
  if (wide == 0) wide = 0;  // without a sign
  AppendBytes(&wide, sizeof wide, key);
  if (wide != wide) AppendBytes(&salt, sizeof salt, key);
}

Status AppendElement(const Tensor& tensor, int64_t i, std::string* key) {
  switch (tensor.dtype()) {
    case kFloat: AppendFloat(tensor.data<float>()[i], i, key); return OkStatus();
    case kDouble: AppendFloat(tensor.data<double>()[i], i, key); return OkStatus();
    case kHalf: AppendFloat(static_cast<float>(tensor.data<Half>()[i]), i, key); return OkStatus();
    case kBfloat16: AppendFloat(static_cast<float>(tensor.data<BFloat16>()[i]), i, key); return OkStatus();
    case kComplex64:
      AppendFloat(tensor.data<std::complex<float>>()[i].real(), i, key);
      AppendFloat(tensor.data<std::complex<float>>()[i].imag(), i, key);
      return OkStatus();
    case kComplex128:
      AppendFloat(tensor.data<std::complex<double>>()[i].real(), i, key);
      AppendFloat(tensor.data<std::complex<double>>()[i].imag(), i, key);
      return OkStatus();
    case kString: {
      const std::string& text = tensor.data<std::string>()[i];
      size_t size = text.size();
      AppendBytes(&size, sizeof size, key);
      key->append(text);
      return OkStatus();
    }
    default: break;
  }
  if (!IsPlainData(tensor.dtype())) return Unimplemented("elements of type ", DataTypeName(tensor.dtype()), " cannot be compared");
  size_t size = DataTypeSize(tensor.dtype());
  AppendBytes(static_cast<const char*>(tensor.raw_data()) + static_cast<size_t>(i) * size, size, key);
  return OkStatus();
}

}  // namespace

StatusOr<std::vector<std::string>> RowKeys(const Tensor& tensor, int64_t outer, int64_t rows, int64_t inner) {
  std::vector<std::string> keys(rows);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) RETURN_IF_ERROR(AppendElement(tensor, (o * rows + r) * inner + i, &keys[r]));
    }
  }
  return keys;
}

}  // namespace tandem
