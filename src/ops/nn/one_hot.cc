// OneHot: a new dimension of size `depth` that is on_value at each index and off_value elsewhere.
#include <algorithm>
#include <complex>

#include "graph/op.h"
#include "graph/shape_inference.h"

namespace tandem {
namespace {

// `inner`: elements after the new dimension. Indices outside [0, depth) leave only off values.
template <typename E, typename I>
void Scatter(const Tensor& indices, int64_t depth, int64_t inner, E on, E off, E* to) {
  const I* index = indices.data<I>();
  const int64_t count = indices.num_elements();
  std::fill_n(to, count * depth, off);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t k = static_cast<int64_t>(index[i]);
    if (k >= 0 && k < depth) to[(i / inner * depth + k) * inner + i % inner] = on;
  }
}

// E is any type of the right size: values are only copied.
template <typename E>
void ScatterAny(const Tensor& indices, int64_t depth, int64_t inner, const Tensor& on, const Tensor& off, Tensor* output) {
  const E& on_value = *static_cast<const E*>(on.raw_data());
  const E& off_value = *static_cast<const E*>(off.raw_data());
  E* to = static_cast<E*>(output->mutable_raw_data());
  switch (indices.dtype()) {
    case kInt8:
      return Scatter<E, int8_t>(indices, depth, inner, on_value, off_value, to);
    case kUint8:
      return Scatter<E, uint8_t>(indices, depth, inner, on_value, off_value, to);
    case kInt32:
      return Scatter<E, int32_t>(indices, depth, inner, on_value, off_value, to);
    default:
      return Scatter<E, int64_t>(indices, depth, inner, on_value, off_value, to);
  }
}

struct OneHot {
  explicit OneHot(const Attrs& attrs) : axis(attrs.GetInt("axis")) {}

  Status Run(KernelContext& ctx) const {
    const Tensor &indices = ctx.input(0), &depth_tensor = ctx.input(1), &on = ctx.input(2), &off = ctx.input(3);
    const int rank = indices.shape().rank();
    if (axis < -1 || axis > rank) return InvalidArgument("Expected axis to be -1 or between [0, ", rank + 1, ").  But received: ", axis);
    if (!depth_tensor.shape().is_scalar()) return InvalidArgument("depth must be a scalar, but got: ", depth_tensor.shape().ToString());
    if (!on.shape().is_scalar()) return InvalidArgument("on_value must be a scalar, but got: ", on.shape().ToString());
    if (!off.shape().is_scalar()) return InvalidArgument("off_value must be a scalar, but got: ", off.shape().ToString());
    const int64_t depth = depth_tensor.scalar<int32_t>();
    if (depth < 0) return InvalidArgument("depth must be non-negative, got: ", depth);

    const int at = axis == -1 ? rank : static_cast<int>(axis);
    Shape shape = indices.shape();
    shape.InsertDim(at, depth);
    ASSIGN_OR_RETURN(shape, Shape::Checked(shape.dims()));
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, shape));
    if (output->num_elements() == 0) return OkStatus();
    int64_t inner = 1;
    for (int i = at; i < rank; ++i) inner *= indices.shape().dim(i);
    return Dispatch(indices, depth, inner, on, off, output);
  }

  static Status Dispatch(const Tensor& indices, int64_t depth, int64_t inner, const Tensor& on, const Tensor& off, Tensor* output) {
    if (on.dtype() == kString) {
      ScatterAny<std::string>(indices, depth, inner, on, off, output);
      return OkStatus();
    }
    if (!IsPlainData(on.dtype())) return Unimplemented("OneHot of ", DataTypeName(on.dtype()));
    switch (DataTypeSize(on.dtype())) {
      case 1:
        ScatterAny<uint8_t>(indices, depth, inner, on, off, output);
        break;
      case 2:
        ScatterAny<uint16_t>(indices, depth, inner, on, off, output);
        break;
      case 4:
        ScatterAny<uint32_t>(indices, depth, inner, on, off, output);
        break;
      case 8:
        ScatterAny<uint64_t>(indices, depth, inner, on, off, output);
        break;
      default:
        ScatterAny<std::complex<double>>(indices, depth, inner, on, off, output);
    }
    return OkStatus();
  }

  const int64_t axis;
};

Status OneHotShape(ShapeContext& ctx) {
  const PartialShape& indices = ctx.input(0);
  if (!indices.has_rank()) return OkStatus();
  const int64_t axis = ctx.attrs().GetInt("axis");
  if (axis < -1 || axis > indices.rank()) return InvalidArgument("axis must be >= -1 and at most ", indices.rank(), ", got ", axis);
  const Tensor* depth = ctx.constant(1);
  int64_t size = kUnknownSize;
  if (depth != nullptr && depth->shape().is_scalar()) {
    size = depth->scalar<int32_t>();
    if (size < 0) return InvalidArgument("depth must be non-negative, got: ", size);
  }
  const int at = axis == -1 ? indices.rank() : static_cast<int>(axis);
  std::vector<int64_t> sizes(indices.dims().begin(), indices.dims().end());
  sizes.insert(sizes.begin() + at, size);
  ctx.set_output(0, PartialShape(absl::MakeConstSpan(sizes)));
  return OkStatus();
}

DEFINE_OP("OneHot")
    .Input("indices: TI")
    .Input("depth: int32")
    .Input("on_value: T")
    .Input("off_value: T")
    .Output("output: T")
    .Attr("axis: int = -1")
    .Attr("T: type")
    .Attr("TI: {uint8, int8, int32, int64} = int64")
    .Shape(OneHotShape)
    .Cpu(AnyType<OneHot>())
    .NoGradient();

}  // namespace
}  // namespace tandem
