#include "tandem/tensor.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/allocator.h"
#include "core/log.h"
#include "core/status.h"

namespace tandem {
namespace {

// The elements follow the header in the same block, aligned as the block is.
constexpr size_t kHeaderBytes = kTensorAlignment;

template <typename T>
void DestroyElements(void* data, size_t count) {
  std::destroy_n(static_cast<T*>(data), count);
}

class BlockBuffer final : public Buffer {
 public:
  // nullptr if there is no memory.
  static BlockBuffer* Make(DataType dtype, size_t count, size_t bytes) {
    void* block = AllocateBlock(kHeaderBytes + bytes);
    if (block == nullptr) return nullptr;
    return new (block) BlockBuffer(static_cast<char*>(block) + kHeaderBytes, dtype, count, bytes);
  }

 private:
  BlockBuffer(void* data, DataType dtype, size_t count, size_t bytes) : Buffer(data, bytes), dtype_(dtype), count_(count) {
    if (dtype == kString) {
      std::uninitialized_value_construct_n(static_cast<std::string*>(data), count);
    } else if (dtype == kResource) {
      std::uninitialized_value_construct_n(static_cast<ResourceHandle*>(data), count);
    }
  }

  void Destroy() override {
    if (dtype_ == kString) {
      DestroyElements<std::string>(data(), count_);
    } else if (dtype_ == kResource) {
      DestroyElements<ResourceHandle>(data(), count_);
    }
    size_t bytes = kHeaderBytes + size();
    void* block = static_cast<void*>(this);
    this->~BlockBuffer();
    FreeBlock(block, bytes);
  }

  const DataType dtype_;
  const size_t count_;
};
static_assert(sizeof(BlockBuffer) <= kHeaderBytes);

// A tensor that cannot fit in the machine is refused at once: with overcommit the system would grant it and kill us later.
size_t MachineMemoryBytes() {
  static const size_t bytes = [] {
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_size = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_size > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page_size) : std::numeric_limits<size_t>::max() / 2;
  }();
  return bytes;
}

Status OutOfMemory(DataType dtype, const Shape& shape) {
  return ResourceExhausted("OOM when allocating tensor with shape", shape.ToString(), " and type ", DataTypeName(dtype));
}

StatusOr<Buffer*> MakeBuffer(DataType dtype, const Shape& shape) {
  size_t element = DataTypeSize(dtype);
  if (element == 0) return InvalidArgument("a tensor cannot have the type ", DataTypeName(dtype));
  int64_t count = 1;
  size_t bytes = 0;
  for (int64_t size : shape.dims()) {
    if (size < 0) return InvalidArgument("a tensor cannot have the shape ", shape.ToString());
    if (__builtin_mul_overflow(count, size, &count)) return OutOfMemory(dtype, shape);
  }
  if (__builtin_mul_overflow(static_cast<size_t>(count), element, &bytes) || bytes > MachineMemoryBytes()) return OutOfMemory(dtype, shape);
  Buffer* buffer = BlockBuffer::Make(dtype, static_cast<size_t>(count), bytes);
  if (buffer == nullptr) return OutOfMemory(dtype, shape);
  return buffer;
}

[[noreturn]] void Die(absl::string_view text) {
  LogError(text);
  std::abort();
}

template <typename T>
void AppendElement(const T* data, int64_t i, std::string* out) {
  if constexpr (std::is_same_v<T, std::string>) {
    absl::StrAppend(out, "\"", absl::CEscape(data[i]), "\"");
  } else if constexpr (std::is_same_v<T, ResourceHandle>) {
    absl::StrAppend(out, data[i].name);
  } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    absl::StrAppend(out, "(", data[i].real(), ",", data[i].imag(), ")");
  } else if constexpr (std::is_same_v<T, bool>) {
    absl::StrAppend(out, data[i] ? "true" : "false");
  } else if constexpr (std::is_integral_v<T> || std::is_same_v<T, double>) {
    absl::StrAppend(out, +data[i]);
  } else {
    absl::StrAppend(out, static_cast<float>(data[i]));
  }
}

void AppendElement(const Tensor& tensor, int64_t i, std::string* out) {
  const void* data = tensor.raw_data();
  switch (tensor.dtype()) {
#define TANDEM_CASE(Value, Type) \
  case Value:                    \
    return AppendElement(static_cast<const Type*>(data), i, out);
    TANDEM_CASE(kFloat, float)
    TANDEM_CASE(kDouble, double)
    TANDEM_CASE(kInt32, int32_t)
    TANDEM_CASE(kUint8, uint8_t)
    TANDEM_CASE(kInt16, int16_t)
    TANDEM_CASE(kInt8, int8_t)
    TANDEM_CASE(kString, std::string)
    TANDEM_CASE(kComplex64, std::complex<float>)
    TANDEM_CASE(kInt64, int64_t)
    TANDEM_CASE(kBool, bool)
    TANDEM_CASE(kQint8, int8_t)
    TANDEM_CASE(kQuint8, uint8_t)
    TANDEM_CASE(kQint32, int32_t)
    TANDEM_CASE(kBfloat16, BFloat16)
    TANDEM_CASE(kQint16, int16_t)
    TANDEM_CASE(kQuint16, uint16_t)
    TANDEM_CASE(kUint16, uint16_t)
    TANDEM_CASE(kComplex128, std::complex<double>)
    TANDEM_CASE(kHalf, Half)
    TANDEM_CASE(kResource, ResourceHandle)
    TANDEM_CASE(kUint32, uint32_t)
    TANDEM_CASE(kUint64, uint64_t)
#undef TANDEM_CASE
    case kInvalid:
    case kVariant:
      return;
  }
}

}  // namespace

absl::StatusOr<Tensor> Tensor::Allocate(DataType dtype, const Shape& shape) {
  ASSIGN_OR_RETURN(Buffer * buffer, MakeBuffer(dtype, shape));
  return Tensor(dtype, shape, buffer);
}

Tensor::Tensor(DataType dtype, const Shape& shape) : dtype_(dtype), shape_(shape) {
  StatusOr<Buffer*> buffer = MakeBuffer(dtype, shape);
  if (!buffer.ok()) Die(buffer.status().message());
  buffer_ = *buffer;
  data_ = buffer_->data();
}

Tensor Tensor::Zeros(DataType dtype, const Shape& shape) {
  Tensor made(dtype, shape);
  if (IsPlainData(dtype)) std::memset(made.data_, 0, made.byte_size());
  return made;
}

absl::StatusOr<Tensor> Tensor::Reshaped(const Shape& shape) const {
  ASSIGN_OR_RETURN(Shape checked, Shape::Checked(shape.dims()));
  if (checked.num_elements() != num_elements()) {
    return InvalidArgument("cannot give ", DataTypeName(dtype_), shape_.ToString(), ", which has ", num_elements(), " elements, the shape ", shape.ToString());
  }
  Tensor reshaped = *this;
  reshaped.shape_ = std::move(checked);
  return reshaped;
}

Tensor Tensor::Rows(int64_t begin, int64_t end) const {
  Tensor rows = *this;
  Shape row = shape_;
  row.RemoveDim(0);
  rows.shape_.set_dim(0, end - begin);
  rows.data_ = static_cast<char*>(data_) + static_cast<size_t>(begin * row.num_elements()) * DataTypeSize(dtype_);
  return rows;
}

Tensor Tensor::BitcastTo(DataType dtype, const Shape& shape) const {
  Tensor cast = *this;
  cast.dtype_ = dtype;
  cast.shape_ = shape;
  return cast;
}

Tensor Tensor::Clone() const {
  if (!has_value()) return Tensor();
  Tensor copy(dtype_, shape_);
  if (dtype_ == kString) {
    std::copy_n(static_cast<const std::string*>(data_), num_elements(), static_cast<std::string*>(copy.data_));
  } else if (dtype_ == kResource) {
    std::copy_n(static_cast<const ResourceHandle*>(data_), num_elements(), static_cast<ResourceHandle*>(copy.data_));
  } else {
    std::memcpy(copy.data_, data_, byte_size());
  }
  return copy;
}

std::string Tensor::ToString(int max_elements) const {
  if (!has_value()) return "no value";
  std::string out = absl::StrCat(DataTypeName(dtype_), shape_.ToString());
  int64_t count = num_elements();
  int64_t shown = std::min<int64_t>(count, max_elements);
  for (int64_t i = 0; i < shown; ++i) {
    out.push_back(' ');
    AppendElement(*this, i, &out);
  }
  if (shown < count) out += "...";
  return out;
}

void Tensor::TypeMismatch(DataType expected) const {
  Die(absl::StrCat("a ", has_value() ? DataTypeName(dtype_) : "missing", " tensor was read as ", DataTypeName(expected)));
}

}  // namespace tandem
