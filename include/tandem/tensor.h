// A tensor: element type, shape, and a shared buffer in row-major order. Copying a Tensor shares the buffer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tandem/dtype.h"
#include "tandem/shape.h"

namespace tandem {

class Resource;  // kernel/resource.h

// Names a resource (a variable, a queue …) of one device. `resource` is set on the task that owns it, empty elsewhere.
struct ResourceHandle {
  std::string device;
  std::string container;
  std::string name;
  uint64_t hash_code = 0;
  std::string type_name;
  std::vector<std::pair<DataType, PartialShape>> dtypes_and_shapes;
  std::shared_ptr<Resource> resource;
};

// Memory that tensors share. Counted by hand, so that a tensor costs one allocation.
class Buffer {
 public:
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return data_; }
  size_t size() const { return size_; }  // bytes
  bool is_unique() const { return references_.load(std::memory_order_acquire) == 1; }
  void Ref() { references_.fetch_add(1, std::memory_order_relaxed); }
  void Unref() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) Destroy();
  }

 protected:
  Buffer(void* data, size_t size) : data_(data), size_(size) {}
  virtual ~Buffer() = default;
  virtual void Destroy() = 0;  // when the last reference is gone

 private:
  std::atomic<int32_t> references_{1};
  void* data_;
  size_t size_;
};

class Tensor {
 public:
  Tensor() = default;  // no value: dtype() is kInvalid
  // Uninitialised numbers, empty strings. Aborts if there is no memory; from outside sizes use Allocate.
  Tensor(DataType dtype, const Shape& shape);
  // ResourceExhausted if there is no memory for it, InvalidArgument for a type that Tandem cannot hold.
  static absl::StatusOr<Tensor> Allocate(DataType dtype, const Shape& shape);
  // Takes over one reference of `buffer`, which must hold num_elements(shape) plain elements from its start.
  Tensor(DataType dtype, const Shape& shape, Buffer* buffer) : dtype_(dtype), shape_(shape), buffer_(buffer), data_(buffer->data()) {}

  Tensor(const Tensor& other) : dtype_(other.dtype_), shape_(other.shape_), buffer_(other.buffer_), data_(other.data_) {
    if (buffer_ != nullptr) buffer_->Ref();
  }
  Tensor(Tensor&& other) noexcept
      : dtype_(std::exchange(other.dtype_, kInvalid)), shape_(std::move(other.shape_)), buffer_(std::exchange(other.buffer_, nullptr)), data_(std::exchange(other.data_, nullptr)) {}
  Tensor& operator=(const Tensor& other) {
    if (this != &other) {
      if (other.buffer_ != nullptr) other.buffer_->Ref();
      if (buffer_ != nullptr) buffer_->Unref();
      dtype_ = other.dtype_;
      shape_ = other.shape_;
      buffer_ = other.buffer_;
      data_ = other.data_;
    }
    return *this;
  }
  Tensor& operator=(Tensor&& other) noexcept {
    if (this != &other) {
      if (buffer_ != nullptr) buffer_->Unref();
      dtype_ = std::exchange(other.dtype_, kInvalid);
      shape_ = std::move(other.shape_);
      buffer_ = std::exchange(other.buffer_, nullptr);
      data_ = std::exchange(other.data_, nullptr);
    }
    return *this;
  }
  ~Tensor() {
    if (buffer_ != nullptr) buffer_->Unref();
  }

  // Values that convert as C++ values do, so that {{x, 1.0f}, {y, {1.0f, 2.0f}}} can be fed.
  Tensor(float value) : Tensor(Scalar(value)) {}              // NOLINT
  Tensor(double value) : Tensor(Scalar(value)) {}             // NOLINT
  Tensor(int32_t value) : Tensor(Scalar(value)) {}            // NOLINT
  Tensor(int64_t value) : Tensor(Scalar(value)) {}            // NOLINT
  Tensor(bool value) : Tensor(Scalar(value)) {}               // NOLINT
  Tensor(std::string value) : Tensor(Scalar(std::move(value))) {}          // NOLINT
  Tensor(const char* value) : Tensor(Scalar(std::string(value))) {}        // NOLINT
  template <typename T>
  Tensor(const std::vector<T>& values) : Tensor(Vector<T>(values)) {}      // NOLINT

  template <typename T>
  static Tensor Scalar(T value) {
    Tensor made(DataTypeOf<T>::value, Shape());
    *made.mutable_data<T>() = std::move(value);
    return made;
  }
  template <typename T>
  static Tensor Vector(absl::Span<const T> values) {
    return Of<T>({static_cast<int64_t>(values.size())}, values);
  }
  template <typename T>
  static Tensor Vector(std::initializer_list<T> values) {
    return Of<T>({static_cast<int64_t>(values.size())}, absl::Span<const T>(values.begin(), values.size()));
  }
  template <typename T>
  static Tensor Vector(const std::vector<T>& values) {
    Tensor made(DataTypeOf<T>::value, Shape{static_cast<int64_t>(values.size())});
    T* to = made.mutable_data<T>();
    for (size_t i = 0; i < values.size(); ++i) to[i] = values[i];
    return made;
  }
  // `values` must have as many elements as `shape`.
  template <typename T>
  static Tensor Of(const Shape& shape, absl::Span<const T> values) {
    Tensor made(DataTypeOf<T>::value, shape);
    T* to = made.mutable_data<T>();
    for (size_t i = 0; i < values.size(); ++i) to[i] = values[i];
    return made;
  }
  template <typename T>
  static Tensor Of(const Shape& shape, std::initializer_list<T> values) {
    return Of<T>(shape, absl::Span<const T>(values.begin(), values.size()));
  }
  // All elements zero, false or empty.
  static Tensor Zeros(DataType dtype, const Shape& shape);

  bool has_value() const { return dtype_ != kInvalid; }
  DataType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t num_elements() const { return shape_.num_elements(); }
  size_t byte_size() const { return static_cast<size_t>(num_elements()) * DataTypeSize(dtype_); }

  // T must be the C++ type of dtype(); checked. Row-major.
  template <typename T>
  const T* data() const {
    CheckType(DataTypeOf<T>::value);
    return static_cast<const T*>(data_);
  }
  template <typename T>
  T* mutable_data() {
    CheckType(DataTypeOf<T>::value);
    return static_cast<T*>(data_);
  }
  template <typename T>
  absl::Span<const T> values() const {
    return absl::Span<const T>(data<T>(), static_cast<size_t>(num_elements()));
  }
  template <typename T>
  absl::Span<T> mutable_values() {
    return absl::Span<T>(mutable_data<T>(), static_cast<size_t>(num_elements()));
  }
  template <typename T>
  const T& scalar() const {
    return *data<T>();
  }
  const void* raw_data() const { return data_; }
  void* mutable_raw_data() { return data_; }

  // Whether no other tensor sees this buffer, so that it may be overwritten.
  bool is_unique() const { return buffer_ != nullptr && buffer_->is_unique(); }
  bool SharesBufferWith(const Tensor& other) const { return buffer_ != nullptr && buffer_ == other.buffer_; }
  Buffer* buffer() const { return buffer_; }

  // The same elements under another shape of as many elements; shares the buffer.
  absl::StatusOr<Tensor> Reshaped(const Shape& shape) const;
  void set_shape(const Shape& shape) { shape_ = shape; }  // as many elements as before
  // Rows [begin, end) of dimension 0; shares the buffer.
  Tensor Rows(int64_t begin, int64_t end) const;
  // The same bits under another type of the same element size; shares the buffer.
  Tensor BitcastTo(DataType dtype, const Shape& shape) const;
  // A copy with a buffer of its own.
  Tensor Clone() const;

  // "float[2,3] 1 2 3..." with up to `max_elements` elements.
  std::string ToString(int max_elements = 3) const;

 private:
  void CheckType(DataType expected) const {
    if (__builtin_expect(dtype_ != expected, 0)) TypeMismatch(expected);
  }
  [[noreturn]] void TypeMismatch(DataType expected) const;

  DataType dtype_ = kInvalid;
  Shape shape_;
  Buffer* buffer_ = nullptr;
  void* data_ = nullptr;  // inside the buffer
};

}  // namespace tandem
