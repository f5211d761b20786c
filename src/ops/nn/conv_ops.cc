// Conv2D, Conv3D and their gradients.
#include <vector>

#include "graph/gradient.h"
#include "graph/shape_inference.h"
#include "ops/nn/convolution.h"
#include "ops/nn/layout.h"

namespace tandem {
namespace {

// The shape that an int32 or int64 vector names.
StatusOr<Shape> ShapeFromSizes(const Tensor& sizes, absl::string_view what) {
  if (sizes.shape().rank() != 1) return InvalidArgument(what, " must be 1-dimensional, not ", sizes.shape().rank(), "-dimensional");
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < sizes.num_elements(); ++i) dims.push_back(sizes.dtype() == kInt32 ? sizes.data<int32_t>()[i] : sizes.data<int64_t>()[i]);
  return Shape::Checked(dims);
}

// Common to the kernels: attrs read once.
template <int spatial_dims>
struct ConvKernel {
  explicit ConvKernel(const Attrs& attrs) {
    StatusOr<WindowSpec> read = ReadWindowSpec(attrs, spatial_dims);
    if (read.ok()) {
      spec = *std::move(read);
    } else {
      attrs.Fail(read.status());
    }
  }

  Status CheckGradient(const ConvGeometry& geometry, const Tensor& gradient) const {
    const Shape expected = ConvOutputShape(spec, geometry);
    if (gradient.shape() == expected) return OkStatus();
    return InvalidArgument("out_backprop has shape ", gradient.shape().ToString(), ", the sizes of input and filter give ", expected.ToString());
  }

  WindowSpec spec;
};

template <int spatial_dims>
struct Conv : ConvKernel<spatial_dims> {
  using ConvKernel<spatial_dims>::ConvKernel;
  using ConvKernel<spatial_dims>::spec;

  Status Run(KernelContext& ctx) const {
    ASSIGN_OR_RETURN(const ConvGeometry geometry, MakeConvGeometry(spec, ctx.input(0).shape(), ctx.input(1).shape()));
    ASSIGN_OR_RETURN(const Shape shape, Shape::Checked(ConvOutputShape(spec, geometry).dims()));
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, shape));
    ASSIGN_OR_RETURN(const Tensor input, PrepareInput(ctx.input(0), spec.is_channels_first));
    ASSIGN_OR_RETURN(const Tensor filter, PrepareInput(ctx.input(1), false));
    ASSIGN_OR_RETURN(Tensor work, WorkspaceFor(*output, spec.is_channels_first));
    RETURN_IF_ERROR(ConvForward(geometry, input, filter, &work));
    FinishOutput(work, spec.is_channels_first, output);
    return OkStatus();
  }
};

template <int spatial_dims>
struct ConvBackpropInputKernel : ConvKernel<spatial_dims> {
  using ConvKernel<spatial_dims>::ConvKernel;
  using ConvKernel<spatial_dims>::spec;

  Status Run(KernelContext& ctx) const {
    const Tensor &filter = ctx.input(1), &gradient = ctx.input(2);
    ASSIGN_OR_RETURN(Shape shape, ShapeFromSizes(ctx.input(0), "input_sizes"));
    if (spatial_dims == 2 && shape.rank() == 2 && gradient.shape().rank() == 4 && filter.shape().rank() == 4) {  // only height and width
      shape.InsertDim(0, gradient.shape().dim(0));
      shape.InsertDim(spec.channel_dim(), filter.shape().dim(2));
    }
    ASSIGN_OR_RETURN(const ConvGeometry geometry, MakeConvGeometry(spec, shape, filter.shape()));
    RETURN_IF_ERROR(this->CheckGradient(geometry, gradient));
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, shape));
    ASSIGN_OR_RETURN(const Tensor wide_filter, PrepareInput(filter, false));
    ASSIGN_OR_RETURN(const Tensor wide_gradient, PrepareInput(gradient, spec.is_channels_first));
    ASSIGN_OR_RETURN(Tensor work, WorkspaceFor(*output, spec.is_channels_first));
    RETURN_IF_ERROR(ConvBackpropInput(geometry, wide_filter, wide_gradient, &work));
    FinishOutput(work, spec.is_channels_first, output);
    return OkStatus();
  }
};

template <int spatial_dims>
struct ConvBackpropFilterKernel : ConvKernel<spatial_dims> {
  using ConvKernel<spatial_dims>::ConvKernel;
  using ConvKernel<spatial_dims>::spec;

  Status Run(KernelContext& ctx) const {
    const Tensor &input = ctx.input(0), &gradient = ctx.input(2);
    ASSIGN_OR_RETURN(const Shape shape, ShapeFromSizes(ctx.input(1), "filter_sizes"));
    ASSIGN_OR_RETURN(const ConvGeometry geometry, MakeConvGeometry(spec, input.shape(), shape));
    RETURN_IF_ERROR(this->CheckGradient(geometry, gradient));
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, shape));
    ASSIGN_OR_RETURN(const Tensor wide_input, PrepareInput(input, spec.is_channels_first));
    ASSIGN_OR_RETURN(const Tensor wide_gradient, PrepareInput(gradient, spec.is_channels_first));
    ASSIGN_OR_RETURN(Tensor work, WorkspaceFor(*output, false));
    RETURN_IF_ERROR(ConvBackpropFilter(geometry, wide_input, wide_gradient, &work));
    FinishOutput(work, false, output);
    return OkStatus();
  }
};

template <int spatial_dims>
Status ConvShape(ShapeContext& ctx) {
  ASSIGN_OR_RETURN(const WindowSpec spec, ReadWindowSpec(ctx.attrs(), spatial_dims));
  const int rank = spatial_dims + 2;
  const PartialShape &input = ctx.input(0), &filter = ctx.input(1);
  for (const PartialShape* shape : {&input, &filter}) {
    if (shape->has_rank() && shape->rank() != rank) return InvalidArgument("Shape must be rank ", rank, " but is rank ", shape->rank());
  }
  PartialShape output = PartialShape::UnknownOfRank(rank);
  if (input.has_rank()) output.set_dim(0, input.dim(0));
  if (filter.has_rank()) output.set_dim(spec.channel_dim(), filter.dim(spatial_dims + 1));
  for (int i = 0; i < spatial_dims && input.has_rank() && filter.has_rank(); ++i) {
    WindowDim dim = spec.Dim(i, input.dim(spec.spatial_dim(i)), filter.dim(i));
    RETURN_IF_ERROR(FitWindow(spec.padding, &dim));
    output.set_dim(spec.spatial_dim(i), dim.out);
  }
  ctx.set_output(0, output);
  return OkStatus();
}

// Of the size that input `i` names, if it names all of `rank` dimensions.
ShapeFunction ShapeFromSizesInput(int i, int rank) {
  return [=](ShapeContext& ctx) {
    const PartialShape shape = ctx.ConstantAsShape(i);
    ctx.set_output(0, shape.has_rank() && shape.rank() == rank ? shape : PartialShape::UnknownOfRank(rank));
    return OkStatus();
  };
}

// The attrs that forward and backward ops share.
std::vector<NamedAttr> ConvAttrs(const GradientScope& g) {
  std::vector<NamedAttr> attrs;
  for (const char* name : {"strides", "dilations", "explicit_paddings"}) {
    if (g.attrs().Has(name)) attrs.emplace_back(name, AttrValue(g.attrs().GetInts(name)));
  }
  for (const char* name : {"padding", "data_format"}) attrs.emplace_back(name, AttrValue(g.attrs().GetString(name)));
  if (g.attrs().Has("use_cudnn_on_gpu")) attrs.emplace_back("use_cudnn_on_gpu", g.attrs().GetBool("use_cudnn_on_gpu"));
  return attrs;
}

struct ConvNames {
  const char *forward, *backprop_input, *backprop_filter;
};
constexpr ConvNames kConv2D{"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"};
constexpr ConvNames kConv3D{"Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"};

// The op is linear in input and filter, so that the three ops are each other's derivatives.
GradientFunction ForwardGradient(const ConvNames& names) {
  return [&names](GradientScope& g) {
    Output input = g.input(0), filter = g.input(1);
    return g.Return({g.Op(names.backprop_input, {g.ShapeOf(input), filter, g.grad(0)}, ConvAttrs(g)),
                     g.Op(names.backprop_filter, {input, g.ShapeOf(filter), g.grad(0)}, ConvAttrs(g))});
  };
}
GradientFunction BackpropInputGradient(const ConvNames& names) {
  return [&names](GradientScope& g) {
    Output filter = g.input(1), gradient = g.input(2);
    return g.Return({Output(), g.Op(names.backprop_filter, {g.grad(0), g.ShapeOf(filter), gradient}, ConvAttrs(g)),
                     g.Op(names.forward, {g.grad(0), filter}, ConvAttrs(g))});
  };
}
GradientFunction BackpropFilterGradient(const ConvNames& names) {
  return [&names](GradientScope& g) {
    Output input = g.input(0), gradient = g.input(2);
    return g.Return(
        {g.Op(names.backprop_input, {g.ShapeOf(input), g.grad(0), gradient}, ConvAttrs(g)), Output(), g.Op(names.forward, {input, g.grad(0)}, ConvAttrs(g))});
  };
}

OpBuilder Conv2DOp(const char* name, const char* types) {
  return OpBuilder(name)
      .Output("output: T")
      .Attr(types)
      .Attr("strides: list(int)")
      .Attr("use_cudnn_on_gpu: bool = true")
      .Attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .Attr("explicit_paddings: list(int) = []")
      .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .Attr("dilations: list(int) = [1, 1, 1, 1]");
}
OpBuilder Conv3DOp(const char* name) {
  return OpBuilder(name)
      .Output("output: T")
      .Attr("T: FLT")
      .Attr("strides: list(int) >= 5")
      .Attr("padding: {'SAME', 'VALID'}")
      .Attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
      .Attr("dilations: list(int) = [1, 1, 1, 1, 1]");
}

const OpRegistrar kConv2DForward = Conv2DOp("Conv2D", "T: FLT + {int32}")
                                       .Input("input: T")
                                       .Input("filter: T")
                                       .Shape(ConvShape<2>)
                                       .Cpu(SameKernelFor<Conv<2>>({kHalf, kBfloat16, kFloat, kDouble, kInt32}))
                                       .Gradient(ForwardGradient(kConv2D));
const OpRegistrar kConv2DBackpropInput = Conv2DOp("Conv2DBackpropInput", "T: FLT + {int32}")
                                             .Input("input_sizes: int32")
                                             .Input("filter: T")
                                             .Input("out_backprop: T")
                                             .Shape(ShapeFromSizesInput(0, 4))
                                             .Cpu(SameKernelFor<ConvBackpropInputKernel<2>>({kHalf, kBfloat16, kFloat, kDouble, kInt32}))
                                             .Gradient(BackpropInputGradient(kConv2D));
const OpRegistrar kConv2DBackpropFilter = Conv2DOp("Conv2DBackpropFilter", "T: FLT")
                                              .Input("input: T")
                                              .Input("filter_sizes: int32")
                                              .Input("out_backprop: T")
                                              .Shape(ShapeFromSizesInput(1, 4))
                                              .Cpu(SameKernelFor<ConvBackpropFilterKernel<2>>({kHalf, kBfloat16, kFloat, kDouble}))
                                              .Gradient(BackpropFilterGradient(kConv2D));
const OpRegistrar kConv3DForward = Conv3DOp("Conv3D")
                                       .Input("input: T")
                                       .Input("filter: T")
                                       .Shape(ConvShape<3>)
                                       .Cpu(SameKernelFor<Conv<3>>({kHalf, kBfloat16, kFloat, kDouble}))
                                       .Gradient(ForwardGradient(kConv3D));
const OpRegistrar kConv3DBackpropInput = Conv3DOp("Conv3DBackpropInputV2")
                                             .Input("input_sizes: Tshape")
                                             .Input("filter: T")
                                             .Input("out_backprop: T")
                                             .Attr("Tshape: IDX = int32")
                                             .Shape(ShapeFromSizesInput(0, 5))
                                             .Cpu(SameKernelFor<ConvBackpropInputKernel<3>>({kHalf, kBfloat16, kFloat, kDouble}))
                                             .Gradient(BackpropInputGradient(kConv3D));
const OpRegistrar kConv3DBackpropFilter = Conv3DOp("Conv3DBackpropFilterV2")
                                              .Input("input: T")
                                              .Input("filter_sizes: int32")
                                              .Input("out_backprop: T")
                                              .Shape(ShapeFromSizesInput(1, 5))
                                              .Cpu(SameKernelFor<ConvBackpropFilterKernel<3>>({kHalf, kBfloat16, kFloat, kDouble}))
                                              .Gradient(BackpropFilterGradient(kConv3D));

}  // namespace
}  // namespace tandem
