// SpaceToDepth, DepthToSpace, SpaceToBatchND, BatchToSpaceND: blocks of an image moved into another dimension, and back.
#include <algorithm>
#include <string>
#include <vector>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"
#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

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
  explicit SpaceDepth(const Attrs& attrs) : is_to_depth(attrs.op() == "SpaceToDepth"), block(attrs.GetInt("block_size")), at(LayoutOf(attrs.GetString("data_format"))) {
    if (attrs.GetString("data_format") == "NCHW_VECT_C") attrs.Fail(Unimplemented(attrs.op(), " does not support data_format NCHW_VECT_C"));
    if (block > 1 << 15) attrs.Fail(InvalidArgument("block_size ", block, " is too large"));
  }

  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    if (input.shape().rank() != 4) return InvalidArgument("Input rank should be 4 instead of ", input.shape().rank());
    ASSIGN_OR_RETURN(Shape shape, is_to_depth ? DeepShape(input.shape(), block, at) : WideShape(input.shape(), block, at));
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
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

// Block sizes, and what is added around (or cut off) dimensions 1, 2, ….
struct Blocks {
  std::vector<int64_t> block, before, after;
  int64_t product = 1;
};

StatusOr<Blocks> ReadBlocks(const Tensor& input, const Tensor& block_shape, const Tensor& margins, absl::string_view margins_name) {
  if (block_shape.shape().rank() != 1) return InvalidArgument("block_shape rank should be 1 instead of ", block_shape.shape().rank());
  int64_t count = block_shape.num_elements();
  if (input.shape().rank() < 1 + count) return InvalidArgument("input rank should be >= ", 1 + count, " instead of ", input.shape().rank());
  if (margins.shape().rank() != 2 || margins.shape().dim(0) != count || margins.shape().dim(1) != 2) {
    return InvalidArgument(margins_name, " should have shape [", count, ", 2] instead of ", margins.shape().ToString());
  }
  Blocks blocks;
  ASSIGN_OR_RETURN(blocks.block, ReadIntegers(block_shape));
  ASSIGN_OR_RETURN(std::vector<int64_t> values, ReadIntegers(margins));
  for (int64_t i = 0; i < count; ++i) {
    if (blocks.block[i] < 1) return InvalidArgument("All values in block_shape must be positive, got value, ", blocks.block[i], " at index ", i, ".");
    if (__builtin_mul_overflow(blocks.product, blocks.block[i], &blocks.product)) return InvalidArgument("Product of block sizes must be positive");
    if (values[2 * i] < 0 || values[2 * i + 1] < 0) return InvalidArgument(margins_name == "paddings" ? "Paddings" : "Crops", " must be non-negative");
    blocks.before.push_back(values[2 * i]);
    blocks.after.push_back(values[2 * i + 1]);
  }
  return blocks;
}

// Copies between `image` [batch, size…, rest…] and `split` [product·batch, cells…, rest…], in which entry o·batch + b holds the
// pixels that lie at offset o in their block.
void CopyBlocks(const Blocks& blocks, const Shape& image, const Shape& split, bool is_to_split, const Tensor& from, Tensor* to) {
  Strides image_strides = RowMajorStrides(image), split_strides = RowMajorStrides(split);
  int dims = static_cast<int>(blocks.block.size());
  int64_t batch = image.dim(0);
  for (int64_t o = 0; o < blocks.product; ++o) {
    int64_t image_offset = 0, split_offset = o * batch * split_strides[0], rest = o;
    Strides sizes(image.dims().begin(), image.dims().end()), walk = image_strides;
    for (int i = dims - 1; i >= 0; --i) {
      int64_t block = blocks.block[i], place = rest % block, size = image.dim(i + 1);
      rest /= block;
      // Cell p is pixel p·block + place - before, which must lie inside the image.
      int64_t shift = blocks.before[i] - place;
      int64_t first = shift > 0 ? (shift + block - 1) / block : 0;
      int64_t end = size + shift > 0 ? (size + shift + block - 1) / block : 0;
      end = std::min(end, split.dim(i + 1));
      sizes[i + 1] = std::max<int64_t>(end - first, 0);
      image_offset += (first * block - shift) * image_strides[i + 1];
      split_offset += first * split_strides[i + 1];
      walk[i + 1] *= block;
    }
    if (is_to_split) {
      StridedCopy(sizes, from, image_offset, walk, to, split_offset, split_strides);
    } else {
      StridedCopy(sizes, from, split_offset, split_strides, to, image_offset, walk);
    }
  }
}

struct SpaceToBatchND {
  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    ASSIGN_OR_RETURN(Blocks blocks, ReadBlocks(input, ctx.input(1), ctx.input(2), "paddings"));
    std::vector<int64_t> sizes(input.shape().dims().begin(), input.shape().dims().end());
    if (__builtin_mul_overflow(sizes[0], blocks.product, &sizes[0])) return InvalidArgument("the blocks are too many");
    for (size_t i = 0; i < blocks.block.size(); ++i) {
      int64_t padded;
      if (__builtin_add_overflow(sizes[i + 1], blocks.before[i], &padded) || __builtin_add_overflow(padded, blocks.after[i], &padded)) {
        return InvalidArgument("paddings are too large");
      }
      if (padded % blocks.block[i] != 0) return InvalidArgument("padded_shape[", i, "]=", padded, " is not divisible by block_shape[", i, "]=", blocks.block[i]);
      sizes[i + 1] = padded / blocks.block[i];
    }
    ASSIGN_OR_RETURN(Shape shape, Shape::Checked(sizes));
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    SetToZero(output);
    if (input.num_elements() > 0) CopyBlocks(blocks, input.shape(), shape, /*is_to_split=*/true, input, output);
    return OkStatus();
  }
};

struct BatchToSpaceND {
  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    ASSIGN_OR_RETURN(Blocks blocks, ReadBlocks(input, ctx.input(1), ctx.input(2), "crops"));
    std::vector<int64_t> sizes(input.shape().dims().begin(), input.shape().dims().end());
    if (sizes[0] % blocks.product != 0) {
      return InvalidArgument("Input batch dimension (", sizes[0], ") is not divisible by product of block sizes (", blocks.product, ")");
    }
    sizes[0] /= blocks.product;
    for (size_t i = 0; i < blocks.block.size(); ++i) {
      int64_t cropped;
      if (__builtin_mul_overflow(sizes[i + 1], blocks.block[i], &cropped) || __builtin_sub_overflow(cropped, blocks.before[i], &cropped) ||
          __builtin_sub_overflow(cropped, blocks.after[i], &cropped)) {
        return InvalidArgument("crops are too large");
      }
      if (cropped < 0) return InvalidArgument("cropped_shape[", i, "]=", cropped, " must be non-negative");
      sizes[i + 1] = cropped;
    }
    ASSIGN_OR_RETURN(Shape shape, Shape::Checked(sizes));
    ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
    if (shape.num_elements() > 0) CopyBlocks(blocks, shape, input.shape(), /*is_to_split=*/false, input, output);
    return OkStatus();
  }
};

Status BatchShape(ShapeContext& ctx) {
  const PartialShape& input = ctx.input(0);
  if (!input.has_rank() || input.rank() < 1) return OkStatus();
  PartialShape output = input;
  output.set_dim(0, kUnknownSize);
  std::vector<int64_t> block;
  const Tensor* margins = ctx.constant(2);
  if (!ConstantVector(ctx, 1, &block)) {
    ctx.set_output(0, PartialShape::UnknownOfRank(input.rank()));
    return OkStatus();
  }
  if (static_cast<int>(block.size()) + 1 > input.rank()) return InvalidArgument("input rank should be >= ", block.size() + 1, " instead of ", input.rank());
  for (size_t i = 0; i < block.size(); ++i) output.set_dim(static_cast<int>(i) + 1, kUnknownSize);
  if (margins != nullptr && input.is_fully_known()) {
    bool is_to_batch = ctx.attrs().op() == "SpaceToBatchND";
    ASSIGN_OR_RETURN(Blocks blocks, ReadBlocks(Tensor(kBool, Shape(std::vector<int64_t>(input.rank(), 0))), *ctx.constant(1), *margins, is_to_batch ? "paddings" : "crops"));
    // Sizes that do not fit in int64 are left unknown; the kernel refuses them.
    auto size_after = [&](int64_t size, int64_t factor, int64_t margin) {
      if (is_to_batch) return __builtin_add_overflow(size, margin, &size) ? kUnknownSize : size / factor;
      return __builtin_mul_overflow(size, factor, &size) || size < margin ? kUnknownSize : size - margin;
    };
    for (size_t i = 0; i < block.size(); ++i) {
      int64_t margin;
      if (__builtin_add_overflow(blocks.before[i], blocks.after[i], &margin)) return InvalidArgument("the margins are too large");
      output.set_dim(static_cast<int>(i) + 1, size_after(input.dim(static_cast<int>(i) + 1), block[i], margin));
    }
    int64_t batch = input.dim(0) / blocks.product;
    if (is_to_batch && __builtin_mul_overflow(input.dim(0), blocks.product, &batch)) batch = kUnknownSize;
    output.set_dim(0, batch);
  }
  ctx.set_output(0, output);
  return OkStatus();
}

Status SpaceToBatchGradient(GradientScope& g) { return g.Return({g.Op("BatchToSpaceND", {g.grad(0), g.input(1), g.input(2)}), Output(), Output()}); }
Status BatchToSpaceGradient(GradientScope& g) { return g.Return({g.Op("SpaceToBatchND", {g.grad(0), g.input(1), g.input(2)}), Output(), Output()}); }

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

DEFINE_OP("SpaceToBatchND")
    .Input("input: T")
    .Input("block_shape: Tblock_shape")
    .Input("paddings: Tpaddings")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tblock_shape: IDX = int32")
    .Attr("Tpaddings: IDX = int32")
    .Shape(BatchShape)
    .Cpu(AnyType<SpaceToBatchND>())
    .Gradient(SpaceToBatchGradient);

DEFINE_OP("BatchToSpaceND")
    .Input("input: T")
    .Input("block_shape: Tblock_shape")
    .Input("crops: Tcrops")
    .Output("output: T")
    .Attr("T: type")
    .Attr("Tblock_shape: IDX = int32")
    .Attr("Tcrops: IDX = int32")
    .Shape(BatchShape)
    .Cpu(AnyType<BatchToSpaceND>())
    .Gradient(BatchToSpaceGradient);

}  // namespace
}  // namespace tandem
