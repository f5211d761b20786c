#include "ops/nn/pooling.h"

namespace tandem {

StatusOr<PoolGeometry> MakePoolGeometry(const WindowSpec& spec, const Shape& input) {
  if (input.rank() != 4) return InvalidArgument("tensor_in must be 4-dimensional, got shape ", input.ToString());
  PoolGeometry g;
  const int64_t channels = input.dim(spec.channel_dim());
  if (spec.channel_size == 1) {
    if (spec.channel_stride != 1) return Unimplemented("Pooling with a stride of ", spec.channel_stride, " across channels is not supported");
    g.batch = input.dim(0);
    g.channels = channels;
    g.height = spec.Dim(0, input.dim(spec.spatial_dim(0)), spec.sizes[0]);
    g.width = spec.Dim(1, input.dim(spec.spatial_dim(1)), spec.sizes[1]);
    RETURN_IF_ERROR(FitWindow(spec.padding, &g.height));
    RETURN_IF_ERROR(FitWindow(spec.padding, &g.width));
    return g;
  }
  if (spec.sizes[0] != 1 || spec.sizes[1] != 1) {
    return Unimplemented("Pooling supports exactly one of pooling across depth or pooling across width/height.");
  }
  if (channels % spec.channel_size != 0) {
    return Unimplemented("Depthwise pooling requires the depth window to evenly divide the input depth, got ", spec.channel_size, " for ", channels);
  }
  if (spec.channel_size != spec.channel_stride) {
    return Unimplemented("Depthwise pooling requires the depth window to equal the depth stride, got ", spec.channel_size, " and ", spec.channel_stride);
  }
  if (spec.strides[0] != 1 || spec.strides[1] != 1) return Unimplemented("Depthwise pooling with strides along height or width is not supported");
  g.batch = input.num_elements() / (channels == 0 ? 1 : channels);
  g.width = {.in = channels, .window = spec.channel_size, .stride = spec.channel_size, .out = channels / spec.channel_size};
  return g;
}

StatusOr<Shape> PoolOutputShape(const WindowSpec& spec, const Shape& input) {
  ASSIGN_OR_RETURN(const PoolGeometry g, MakePoolGeometry(spec, input));
  Shape shape = input;
  if (spec.channel_size != 1) {
    shape.set_dim(spec.channel_dim(), g.width.out);
  } else {
    shape.set_dim(spec.spatial_dim(0), g.height.out);
    shape.set_dim(spec.spatial_dim(1), g.width.out);
  }
  return shape;
}

}  // namespace tandem
