// Bitcast: the same bytes under another type. Elements are cut along a new last dimension, or joined along the last one.
#include "graph/op.h"
#include "graph/shape_inference.h"

namespace tandem {
namespace {

struct Bitcast {
  explicit Bitcast(const Attrs& attrs) : type(attrs.GetType("type")), from_size(DataTypeSize(attrs.GetType("T"))), to_size(DataTypeSize(type)) {
    if (from_size == 0 || to_size == 0) attrs.Fail(Unimplemented("Bitcast from ", DataTypeName(attrs.GetType("T")), " to ", DataTypeName(type)));
  }

  Status Run(KernelContext& ctx) const {
    const Tensor& x = ctx.input(0);
    Shape shape = x.shape();
    if (from_size > to_size) {
      shape.AddDim(from_size / to_size);
    } else if (from_size < to_size) {
      const int64_t ratio = to_size / from_size;
      if (shape.rank() == 0 || shape.dim(shape.rank() - 1) != ratio) {
        return InvalidArgument("Cannot bitcast from ", DataTypeName(x.dtype()), " to ", DataTypeName(type), ": the last dimension of ", shape.ToString(),
                               " is not ", ratio);
      }
      shape.RemoveDim(shape.rank() - 1);
    }
    ctx.set_output(0, x.BitcastTo(type, shape));
    return OkStatus();
  }

  DataType type;
  size_t from_size, to_size;
};

Status BitcastShape(ShapeContext& ctx) {
  const int64_t from = DataTypeSize(ctx.attrs().GetType("T")), to = DataTypeSize(ctx.attrs().GetType("type"));
  const PartialShape& in = ctx.input(0);
  if (!in.has_rank() || from == 0 || to == 0) return OkStatus();
  PartialShape out = in;
  if (from > to) {
    out.AddDim(from / to);
  } else if (from < to) {
    if (in.rank() == 0) return InvalidArgument("Cannot bitcast a scalar to a wider type");
    const int64_t last = in.dim(in.rank() - 1);
    if (last != kUnknownSize && last != to / from) return InvalidArgument("Cannot bitcast due to shape. ", last, " does not match ", to / from);
    out = PartialShape(in.dims().first(in.rank() - 1));
  }
  ctx.set_output(0, out);
  return OkStatus();
}

DEFINE_OP("Bitcast").Input("input: T").Output("output: type").Attr("T: NUM").Attr("type: NUM").Shape(BitcastShape).Cpu(AnyType<Bitcast>()).NoGradient();

}  // namespace
}  // namespace tandem
