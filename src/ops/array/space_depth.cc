// SpaceToDepth and DepthToSpace: the pixels of a block become the channels of one pixel, and back.
#include <string>
#include <vector>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

constexpr int64_t kMaxBlock = 1 << 15;  // its square is multiplied with sizes

// Where batch, height, width and depth are among the dimensions.
struct Layout {
  int height, width, depth;
};

Layout LayoutOf(const std::string& data_format) { return data_format == "NCHW" ? Layout{2, 3, 1} : Layout{1, 2, 3}; }

// The image with `block` times smaller sides and block² times more depth, from the one that is spatially large.
StatusOr<Shape> DeepShape(const Shape& wide, int64_t block, const Layout& at) {
  if (wide.dim(at.height) % block != 0 || wide.dim(at.width) % block != 0) {
    return InvalidArgument("Image width ", wide.dim(at.width), " and height ", wide.dim(at.height), " should be divisible by block_size: ", block);
  }
  std::vector<int64_t> sizes(wide.dims().begin(), wide.dims().end());
  sizes[at.height] /= block;
  sizes[at.width] /= block;
  if (__builtin_mul_overflow(sizes[at.depth], block * block, &sizes[at.depth])) return InvalidArgument("block_size ", block, " is too large");
  return Shape::Checked(sizes);
}

StatusOr<Shape> WideShape(const Shape& deep, int64_t block, const Layout& at) {
  if (deep.dim(at.depth) % (block * block) != 0) {
    return InvalidArgument("Input depth dimension ", deep.dim(at.depth), " should be divisible by: ", block * block);
  }
  std::vector<int64_t> sizes(deep.dims().begin(), deep.dims().end());
  sizes[at.depth] /= block * block;
  if (__builtin_mul_overflow(sizes[at.height], block, &sizes[at.height]) || __builtin_mul_overflow(sizes[at.width], block, &sizes[at.width])) {
    return InvalidArgument("block_size ", block, " is too large");
  }
  return Shape::Checked(sizes);
}

// Both ways: depth index (by·block + bx)·C + c of pixel (y, x) is channel c of pixel (y·block + by, x·block + bx).
struct SpaceDepth {
  explicit SpaceDepth(const Attrs& attrs)
      : is_to_depth(attrs.op() == "SpaceToDepth"), block(attrs.GetInt("block_size")), at(LayoutOf(attrs.GetString("data_format"))) {
    if (attrs.GetString("data_format") == "NCHW_VECT_C") attrs.Fail(Unimplemented(attrs.op(), " does not support data_format NCHW_VECT_C"));
    if (block > kMaxBlock) attrs.Fail(InvalidArgument("block_size ", block, " is too large"));
  }

  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    if (input.shape().rank() != 4) return InvalidArgument("Input rank should be 4 instead of ", input.shape().rank());
    ASSIGN_OR_RETURN(Shape shape, is_to_depth ? DeepShape(input.shape(), block, at) : WideShape(input.shape(), block, at));
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    if (shape.num_elements() == 0) return OkStatus();
    const Shape &deep = is_to_depth ? shape : input.shape(), &wide = is_to_depth ? input.shape() : shape;
    Strides w = RowMajorStrides(wide), d = RowMajorStrides(deep);
    int64_t channels = wide.dim(at.depth);
    // Walked as [batch, y, by, x, bx, c].
    Strides sizes = {wide.dim(0), deep.dim(at.height), block, deep.dim(at.width), block, channels};
    Strides wide_strides = {w[0], w[at.height] * block, w[at.height], w[at.width] * block, w[at.width], w[at.depth]};
    Strides deep_strides = {d[0], d[at.height], d[at.depth] * block * channels, d[at.width], d[at.depth] * channels, d[at.depth]};
    StridedCopy(sizes, input, 0, is_to_depth ? wide_strides : deep_strides, output, 0, is_to_depth ? deep_strides : wide_strides);
    return OkStatus();
  }

  bool is_to_depth;
  int64_t block;
  Layout at;
};

Status SpaceDepthShape(ShapeContext& ctx) {
  const PartialShape& input = ctx.input(0);
  if (!input.has_rank()) return OkStatus();
  if (ctx.attrs().GetString("data_format") == "NCHW_VECT_C") return OkStatus();
  if (input.rank() != 4) return InvalidArgument("Input rank should be 4 instead of ", input.rank());
  int64_t block = ctx.attrs().GetInt("block_size");
  if (block > kMaxBlock) return InvalidArgument("block_size ", block, " is too large");
  Layout at = LayoutOf(ctx.attrs().GetString("data_format"));
  PartialShape output = input;
  bool is_to_depth = ctx.attrs().op() == "SpaceToDepth";
  for (int i : {at.height, at.width, at.depth}) {
    int64_t factor = i == at.depth ? block * block : block, size = input.dim(i);
    if (size == kUnknownSize) continue;
    if (is_to_depth == (i == at.depth)) {
      if (__builtin_mul_overflow(size, factor, &size)) return InvalidArgument("block_size ", block, " is too large");
    } else {
      if (factor <= 0 || size % factor != 0) return InvalidArgument("size ", size, " in ", input.ToString(), " should be divisible by ", factor);
      size /= factor;
    }
    output.set_dim(i, size);
  }
  ctx.set_output(0, output);
  return OkStatus();
}

Status SpaceDepthGradient(GradientScope& g, const char* op) {
  return g.Return({g.Op(op, {g.grad(0)}, {{"block_size", g.attrs().GetInt("block_size")}, {"data_format", g.attrs().GetString("data_format")}})});
}
Status SpaceToDepthGradient(GradientScope& g) { return SpaceDepthGradient(g, "DepthToSpace"); }
Status DepthToSpaceGradient(GradientScope& g) { return SpaceDepthGradient(g, "SpaceToDepth"); }

DEFINE_OP("SpaceToDepth")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("block_size: int >= 2")
    .Attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
    .Shape(SpaceDepthShape)
    .Cpu(AnyType<SpaceDepth>())
    .Gradient(SpaceToDepthGradient);

DEFINE_OP("DepthToSpace")
    .Input("input: T")
    .Output("output: T")
    .Attr("T: type")
    .Attr("block_size: int >= 2")
    .Attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
    .Shape(SpaceDepthShape)
    .Cpu(AnyType<SpaceDepth>())
    .Gradient(DepthToSpaceGradient);

}  // namespace
}  // namespace tandem
