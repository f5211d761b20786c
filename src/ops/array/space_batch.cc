// SpaceToBatchND and BatchToSpaceND: pixels at the same place in their block go to a batch entry of their own, and back.
#include <algorithm>
#include <vector>

#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "ops/array/arguments.h"
#include "ops/array/strided_copy.h"

namespace tandem {
namespace {

// Block sizes, and what is added around (or cut off) dimensions 1, 2, ….
struct Blocks {
  Integers block, before, after;
  int64_t product = 1;
};

StatusOr<Blocks> ReadBlocks(int rank, const Tensor& block_shape, const Tensor& margins, absl::string_view margins_name) {
  if (block_shape.shape().rank() != 1) return InvalidArgument("block_shape rank should be 1 instead of ", block_shape.shape().rank());
  int64_t count = block_shape.num_elements();
  if (rank < 1 + count) return InvalidArgument("input rank should be >= ", 1 + count, " instead of ", rank);
  if (margins.shape().rank() != 2 || margins.shape().dim(0) != count || margins.shape().dim(1) != 2) {
    return InvalidArgument(margins_name, " should have shape [", count, ", 2] instead of ", margins.shape().ToString());
  }
  Blocks blocks;
  ASSIGN_OR_RETURN(blocks.block, ReadIntegers(block_shape));
  ASSIGN_OR_RETURN(Integers values, ReadIntegers(margins));
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
    ASSIGN_OR_RETURN(Blocks blocks, ReadBlocks(input.shape().rank(), ctx.input(1), ctx.input(2), "paddings"));
    std::vector<int64_t> sizes(input.shape().dims().begin(), input.shape().dims().end());
    if (__builtin_mul_overflow(sizes[0], blocks.product, &sizes[0])) return InvalidArgument("the blocks are too many");
    for (size_t i = 0; i < blocks.block.size(); ++i) {
      int64_t padded;
      if (__builtin_add_overflow(sizes[i + 1], blocks.before[i], &padded) || __builtin_add_overflow(padded, blocks.after[i], &padded)) {
        return InvalidArgument("paddings are too large");
      }
      if (padded % blocks.block[i] != 0) {
        return InvalidArgument("padded_shape[", i, "]=", padded, " is not divisible by block_shape[", i, "]=", blocks.block[i]);
      }
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
    ASSIGN_OR_RETURN(Blocks blocks, ReadBlocks(input.shape().rank(), ctx.input(1), ctx.input(2), "crops"));
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
  Integers block;
  const Tensor* margins = ctx.constant(2);
  if (!ConstantVector(ctx, 1, &block)) {
    ctx.set_output(0, PartialShape::UnknownOfRank(input.rank()));
    return OkStatus();
  }
  if (static_cast<int>(block.size()) + 1 > input.rank()) return InvalidArgument("input rank should be >= ", block.size() + 1, " instead of ", input.rank());
  for (size_t i = 0; i < block.size(); ++i) output.set_dim(static_cast<int>(i) + 1, kUnknownSize);
  if (margins != nullptr && input.is_fully_known()) {
    bool is_to_batch = ctx.attrs().op() == "SpaceToBatchND";
    ASSIGN_OR_RETURN(Blocks blocks, ReadBlocks(input.rank(), *ctx.constant(1), *margins, is_to_batch ? "paddings" : "crops"));
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
