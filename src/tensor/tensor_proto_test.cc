#include "tensor/tensor_proto.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "proto/tensor.pb.h"

namespace tandem {
namespace {

StatusOr<Tensor> FromText(const std::string& text) {
  tensorflow::TensorProto proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto)) << text;
  return TensorFromProto(proto);
}

std::string Describe(const std::string& text) {
  StatusOr<Tensor> tensor = FromText(text);
  return tensor.ok() ? tensor->ToString(10) : absl::StatusCodeToString(tensor.status().code());
}

TEST(TensorProto, TheLastValueRepeats) {
  EXPECT_EQ(Describe("dtype: DT_FLOAT tensor_shape { dim { size: 4 } } float_val: [1, 2]"), "float[4] 1 2 2 2");
  EXPECT_EQ(Describe("dtype: DT_STRING tensor_shape { dim { size: 2 } } string_val: 'ab'"), "string[2] \"ab\" \"ab\"");
  EXPECT_EQ(Describe("dtype: DT_COMPLEX64 tensor_shape { dim { size: 2 } } scomplex_val: [1, 2]"), "complex64[2] (1,2) (1,2)");
  EXPECT_EQ(Describe("dtype: DT_BOOL tensor_shape { dim { size: 2 } } bool_val: true"), "bool[2] true true");
}

TEST(TensorProto, NoValueMeansZeros) {
  EXPECT_EQ(Describe("dtype: DT_INT64 tensor_shape { dim { size: 2 } }"), "int64[2] 0 0");
  EXPECT_EQ(Describe("dtype: DT_STRING"), "string[] \"\"");
}

TEST(TensorProto, SurplusIsIgnored) { EXPECT_EQ(Describe("dtype: DT_INT32 int_val: [7, 8]"), "int32[] 7"); }

TEST(TensorProto, HalvesAreBitPatterns) {
  EXPECT_EQ(Describe("dtype: DT_HALF half_val: 0x3c00"), "half[] 1");
  EXPECT_EQ(Describe("dtype: DT_BFLOAT16 half_val: 0x3f80"), "bfloat16[] 1");
}

TEST(TensorProto, ContentMustFitExactly) {
  EXPECT_EQ(Describe("dtype: DT_INT16 tensor_shape { dim { size: 2 } } tensor_content: '\\1\\0\\2\\0'"), "int16[2] 1 2");
  EXPECT_EQ(Describe("dtype: DT_INT16 tensor_shape { dim { size: 2 } } tensor_content: '\\1\\0\\2'"), "INVALID_ARGUMENT");
  EXPECT_EQ(Describe("dtype: DT_INT16 tensor_shape { dim { size: 0 } } tensor_content: 'xx'"), "INVALID_ARGUMENT");
  EXPECT_EQ(Describe("dtype: DT_STRING tensor_shape { dim { size: 2 } } tensor_content: '\\1\\2abc'"), "string[2] \"a\" \"bc\"");
  EXPECT_EQ(Describe("dtype: DT_STRING tensor_shape { dim { size: 2 } } tensor_content: '\\1\\3abc'"), "INVALID_ARGUMENT");
  EXPECT_EQ(Describe("dtype: DT_STRING tensor_shape { dim { size: 1 } } tensor_content: '\\377\\377\\377\\377\\377\\377'"), "INVALID_ARGUMENT");
}

TEST(TensorProto, BoolBytesBecomeZeroOrOne) {
  EXPECT_EQ(Describe("dtype: DT_BOOL tensor_shape { dim { size: 2 } } tensor_content: '\\0\\7'"), "bool[2] false true");
}

TEST(TensorProto, ImpossibleOnesAreRefused) {
  EXPECT_EQ(Describe("dtype: DT_FLOAT tensor_shape { unknown_rank: true }"), "INVALID_ARGUMENT");
  EXPECT_EQ(Describe("dtype: DT_FLOAT tensor_shape { dim { size: -1 } }"), "INVALID_ARGUMENT");
  EXPECT_EQ(Describe("dtype: DT_FLOAT tensor_shape { dim { size: 4611686018427387904 } dim { size: 4 } }"), "INVALID_ARGUMENT");
  EXPECT_EQ(Describe("dtype: DT_FLOAT tensor_shape { dim { size: 1125899906842624 } } float_val: 0"), "RESOURCE_EXHAUSTED");
  EXPECT_EQ(Describe("float_val: 0"), "INVALID_ARGUMENT");
  EXPECT_EQ(Describe("dtype: DT_FLOAT_REF"), "INVALID_ARGUMENT");
  EXPECT_EQ(Describe("dtype: DT_VARIANT"), "UNIMPLEMENTED");
}

TEST(TensorProto, RoundTrips) {
  for (int i = 1; i <= 23; ++i) {
    DataType dtype = static_cast<DataType>(i);
    if (dtype == kVariant) continue;
    for (const Shape& shape : {Shape({}), Shape({2, 3}), Shape({0, 2})}) {
      Tensor tensor = Tensor::Zeros(dtype, shape);
      if (dtype == kString && tensor.num_elements() > 0) tensor.mutable_data<std::string>()[0] = "x";
      tensorflow::TensorProto proto;
      TensorToProto(tensor, &proto);
      EXPECT_TRUE(proto.has_tensor_shape());
      StatusOr<Tensor> back = TensorFromProto(proto);
      ASSERT_TRUE(back.ok()) << back.status();
      EXPECT_EQ(back->ToString(10), tensor.ToString(10));
    }
  }
}

TEST(TensorProto, HandlesKeepAllTheyName) {
  ResourceHandle handle{"/job:ps/replica:0/task:0/device:CPU:0", "c", "w", 7, "Var", {{kFloat, PartialShape({kUnknownSize, 3})}}, nullptr};
  tensorflow::TensorProto proto;
  TensorToProto(Tensor::Scalar(handle), &proto);
  StatusOr<Tensor> back = TensorFromProto(proto);
  ASSERT_TRUE(back.ok()) << back.status();
  const ResourceHandle& got = back->scalar<ResourceHandle>();
  EXPECT_EQ(got.device, handle.device);
  EXPECT_EQ(got.name, "w");
  EXPECT_EQ(got.hash_code, 7u);
  EXPECT_EQ(got.dtypes_and_shapes[0].second.ToString(), "[?,3]");
  std::string packed;
  proto.resource_handle_val(0).SerializeToString(&packed);
  std::string content = EncodeStringList({packed});
  proto.clear_resource_handle_val();
  proto.set_tensor_content(content);
  EXPECT_EQ(TensorFromProto(proto)->scalar<ResourceHandle>().type_name, "Var");
}

TEST(StringList, DecodeReversesEncode) {
  std::vector<std::string> strings = {"", std::string(300, 'y'), "z"};
  EXPECT_EQ(*DecodeStringList(EncodeStringList(strings), 3), strings);
  EXPECT_FALSE(DecodeStringList("\x01", 1).ok());
  EXPECT_FALSE(DecodeStringList("", int64_t{1} << 60).ok());
}

}  // namespace
}  // namespace tandem
