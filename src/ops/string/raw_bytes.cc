// Tensors as the bytes of a string: DecodeRaw, DecodePaddedRaw, SerializeTensor, ParseTensor.
#include <algorithm>
#include <cstring>
#include <string>

#include "absl/strings/escaping.h"
#include "graph/gradient.h"
#include "graph/op.h"
#include "graph/shape_inference.h"
#include "proto/tensor.pb.h"
#include "tensor/tensor_proto.h"

namespace tandem {
namespace {

// Turns the bytes of each number around; a complex one is two numbers.
void SwapBytes(DataType type, char* bytes, size_t size) {
  size_t width = IsComplex(type) ? DataTypeSize(type) / 2 : DataTypeSize(type);
  for (size_t i = 0; width > 1 && i + width <= size; i += width) std::reverse(bytes + i, bytes + i + width);
}

// Any byte but 0 is true; in memory true must be 1.
void MakeBools(char* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) bytes[i] = bytes[i] != 0 ? 1 : 0;
}

// Copies each input string, cut or filled up with zeros to `row_size` bytes, into a row of the output.
Status DecodeRows(KernelContext& ctx, size_t row_size, bool is_little_endian) {
  const Tensor& input = ctx.input(0);
  DataType type = ctx.output_type(0);
  Shape shape = input.shape();
  shape.AddDim(static_cast<int64_t>(row_size / DataTypeSize(type)));
  ASSIGN_OR_RETURN(shape, Shape::Checked(shape.dims()));
  ASSIGN_OR_RETURN(Tensor* output, ctx.Allocate(0, shape));
  char* to = static_cast<char*>(output->mutable_raw_data());
  for (const std::string& row : input.values<std::string>()) {
    size_t size = std::min(row.size(), row_size);
    if (row_size == 0) continue;
    std::memcpy(to, row.data(), size);
    std::memset(to + size, 0, row_size - size);
    if (!is_little_endian) SwapBytes(type, to, row_size);
    if (type == kBool) MakeBools(to, row_size);
    to += row_size;
  }
  return OkStatus();
}

struct DecodeRaw {
  explicit DecodeRaw(const Attrs& attrs) : is_little_endian(attrs.GetBool("little_endian")) {}

  Status Run(KernelContext& ctx) const {
    absl::Span<const std::string> rows = ctx.input(0).values<std::string>();
    size_t row_size = rows.empty() ? 0 : rows[0].size(), element_size = DataTypeSize(ctx.output_type(0));
    for (size_t i = 1; i < rows.size(); ++i) {
      if (rows[i].size() != row_size) {
        return InvalidArgument("DecodeRaw requires input strings to all be the same size, but element ", i, " has size ", row_size, " != ", rows[i].size());
      }
    }
    if (row_size % element_size != 0) {
      return InvalidArgument("Input to DecodeRaw has length ", row_size, " that is not a multiple of ", element_size, ", the size of ",
                             DataTypeName(ctx.output_type(0)));
    }
    return DecodeRows(ctx, row_size, is_little_endian);
  }

  bool is_little_endian;
};

struct DecodePaddedRaw {
  explicit DecodePaddedRaw(const Attrs& attrs) : is_little_endian(attrs.GetBool("little_endian")) {}

  Status Run(KernelContext& ctx) const {
    if (ctx.input(1).num_elements() != 1) return InvalidArgument("fixed_length must be a scalar, got shape ", ctx.input(1).shape().ToString());
    int32_t length = *ctx.input(1).data<int32_t>();
    int32_t element_size = static_cast<int32_t>(DataTypeSize(ctx.output_type(0)));
    if (length <= 0) return InvalidArgument("fixed_length (", length, ") must be greater than zero.");
    if (length % element_size != 0) return InvalidArgument("fixed_length (", length, ") must be a multiple of the size of out_type (", element_size, ")");
    return DecodeRows(ctx, static_cast<size_t>(length), is_little_endian);
  }

  bool is_little_endian;
};

// One dimension more than the input has.
Status DecodeShape(ShapeContext& ctx) {
  PartialShape shape = ctx.input(0);
  if (!shape.has_rank()) return OkStatus();
  shape.AddDim(kUnknownSize);
  ctx.set_output(0, shape);
  return OkStatus();
}

struct SerializeTensor {
  Status Run(KernelContext& ctx) const {
    tensorflow::TensorProto proto;
    TensorToProto(ctx.input(0), &proto);
    std::string serialized;
    if (!proto.SerializeToString(&serialized)) return ResourceExhausted("a tensor of ", ctx.input(0).byte_size(), " bytes is too large for a message");
    ctx.set_output(0, Tensor(std::move(serialized)));
    return OkStatus();
  }
};

struct ParseTensor {
  Status Run(KernelContext& ctx) const {
    const Tensor& input = ctx.input(0);
    if (!input.shape().is_scalar()) return InvalidArgument("Expected `serialized` to be a scalar, got shape: ", input.shape().ToString());
    tensorflow::TensorProto proto;
    if (!proto.ParseFromString(input.scalar<std::string>())) {
      return InvalidArgument("Could not parse `serialized` as TensorProto, base64: ", absl::WebSafeBase64Escape(input.scalar<std::string>().substr(0, 64)));
    }
    StatusOr<Tensor> value = TensorFromProto(proto);
    if (!value.ok()) return InvalidArgument("Cannot parse tensor from proto: ", value.status().message());
    if (value->dtype() != ctx.output_type(0)) {
      return InvalidArgument("Type mismatch between parsed tensor (", DataTypeName(value->dtype()), ") and dtype (", DataTypeName(ctx.output_type(0)), ")");
    }
    ctx.set_output(0, *std::move(value));
    return OkStatus();
  }
};

DEFINE_OP("DecodeRaw")
    .Input("bytes: string")
    .Output("output: out_type")
    .Attr("out_type: FC + {int32, uint16, uint8, int16, int8, int64, bool}")
    .Attr("little_endian: bool = true")
    .Shape(DecodeShape)
    .Cpu(AnyType<DecodeRaw>())
    .NoGradient();

DEFINE_OP("DecodePaddedRaw")
    .Input("input_bytes: string")
    .Input("fixed_length: int32")
    .Output("output: out_type")
    .Attr("out_type: FLT + {int32, uint16, uint8, int16, int8, int64}")
    .Attr("little_endian: bool = true")
    .Shape(DecodeShape)
    .Cpu(AnyType<DecodePaddedRaw>())
    .NoGradient();

DEFINE_OP("SerializeTensor").Input("tensor: T").Output("serialized: string").Attr("T: type").Shape(ScalarOutputs).Cpu(AnyType<SerializeTensor>()).NoGradient();

DEFINE_OP("ParseTensor")
    .Input("serialized: string")
    .Output("output: out_type")
    .Attr("out_type: type")
    .Shape(UnknownShapes)
    .Cpu(AnyType<ParseTensor>())
    .NoGradient();

}  // namespace
}  // namespace tandem
