#include "cluster/tensor_codec.h"

#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include <random>

#include "proto/tensor.pb.h"
#include "proto/worker.pb.h"
#include "tensor/tensor_proto.h"

namespace tandem {
namespace {

grpc::ByteBuffer Pieces(const std::string& bytes, size_t piece) {
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < bytes.size(); at += piece) slices.emplace_back(bytes.substr(at, piece));
  if (slices.empty()) slices.emplace_back();
  return grpc::ByteBuffer(slices.data(), slices.size());
}

std::string Join(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string joined;
  for (const grpc::Slice& slice : slices) joined.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return joined;
}

std::string Hex(const std::string& bytes) {
  std::string hex;
  for (unsigned char c : bytes) absl::StrAppend(&hex, hex.empty() ? "" : " ", absl::Hex(c, absl::kZeroPad2));
  return hex;
}

Tensor Ramp(int64_t count) {
  Tensor tensor(kFloat, Shape{count});
  for (int64_t i = 0; i < count; ++i) tensor.mutable_data<float>()[i] = static_cast<float>(i);
  return tensor;
}

// The bytes in these two tests are those of the specification, 3.11.
TEST(TensorCodec, ReplyHasTensorFlowsBytes) {
  const Tensor value = Tensor::Of<float>({2}, {-1, -2});
  EXPECT_EQ(Hex(Join(EncodeRecvTensorResponse(value, false, 1))), "18 01 0a 12 08 01 12 04 12 02 08 02 22 08 00 00 80 bf 00 00 00 c0");
}

TEST(TensorCodec, DeadReplyIsAnEmptyFloat) {
  EXPECT_EQ(Hex(Join(EncodeRecvTensorResponse(Tensor::Scalar<int64_t>(3), true, 1))), "10 01 18 01 0a 0a 08 01 12 04 12 02 08 00 22 00");
}

TEST(TensorCodec, LargeBodyIsSentFromTheTensorsOwnMemory) {
  const Tensor value = Ramp(1000);
  std::vector<grpc::Slice> slices;
  ASSERT_TRUE(EncodeRecvTensorResponse(value, false, 1).Dump(&slices).ok());
  EXPECT_EQ(static_cast<const void*>(slices.back().begin()), value.raw_data());
  EXPECT_FALSE(value.is_unique());
  slices.clear();
  EXPECT_TRUE(value.is_unique());
}

TEST(TensorCodec, ReplyIsReadBackFromAnyCutIntoSlices) {
  const Tensor value = Ramp(1000);
  const std::string bytes = Join(EncodeRecvTensorResponse(value, false, 123456789));
  for (size_t piece : {size_t{1}, size_t{3}, size_t{17}, bytes.size()}) {
    Tensor read;
    bool is_dead = true;
    ASSERT_TRUE(DecodeRecvTensorResponse(Pieces(bytes, piece), &read, &is_dead).ok());
    EXPECT_FALSE(is_dead);
    EXPECT_EQ(read.shape(), value.shape());
    EXPECT_EQ(read.values<float>(), value.values<float>());
  }
}

TEST(TensorCodec, EveryLegalEncodingIsRead) {
  tensorflow::TensorProto repeated;
  repeated.set_dtype(tensorflow::DT_INT32);
  repeated.mutable_tensor_shape()->add_dim()->set_size(3);
  repeated.add_int_val(7);
  tensorflow::TensorProto strings;
  strings.set_dtype(tensorflow::DT_STRING);
  strings.mutable_tensor_shape()->add_dim()->set_size(2);
  strings.set_tensor_content(std::string("\1\3abcd", 6));
  // The content comes before type and shape: legal, as any order of fields.
  std::string reversed("\x22\x04\x00\x00\x80\x3f\x12\x04\x12\x02\x08\x01\x08\x01", 14);
  for (auto [bytes, expected] : {std::pair{repeated.SerializeAsString(), Tensor::Of<int32_t>({3}, {7, 7, 7}).ToString()},
                                 std::pair{strings.SerializeAsString(), Tensor::Of<std::string>({2}, {"a", "bcd"}).ToString()},
                                 std::pair{reversed, Tensor::Of<float>({1}, {1}).ToString()}}) {
    WireReader reader(Pieces(bytes, 2));
    Tensor read;
    ASSERT_TRUE(DecodeTensor(&reader, bytes.size(), &read).ok());
    EXPECT_EQ(read.ToString(), expected);
  }
}

TEST(TensorCodec, NamedTensorsAndTheRestOfAMessageArePartedAndJoined) {
  tensorflow::RunGraphRequest request;
  request.set_graph_handle("g");
  request.set_step_id(-5);
  request.add_recv_key("k");
  const Tensor small = Tensor::Scalar<int64_t>(3), large = Ramp(2000), text = Tensor::Scalar<std::string>("hello");
  const NamedTensorView views[] = {{"a", &small}, {"b", &large}, {"c", &text}};
  const grpc::ByteBuffer bytes = SerializeWithNamedTensors(request, 3, views);
  tensorflow::RunGraphRequest whole, rest;
  ASSERT_TRUE(ParseMessage(bytes, &whole).ok());
  ASSERT_EQ(whole.send_size(), 3);
  EXPECT_EQ(whole.send(1).name(), "b");
  std::vector<NamedTensor> read;
  ASSERT_TRUE(ParseWithNamedTensors(bytes, 3, "send", &rest, &read).ok());
  EXPECT_EQ(rest.SerializeAsString(), request.SerializeAsString());
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[1].tensor.values<float>(), large.values<float>());
  EXPECT_EQ(read[2].tensor.scalar<std::string>(), "hello");
}

TEST(TensorCodec, ContentOfTheWrongLengthNamesTheFeed) {
  tensorflow::RunGraphRequest request;
  auto* feed = request.add_send();
  feed->mutable_tensor()->set_dtype(tensorflow::DT_FLOAT);
  feed->mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(2);
  feed->mutable_tensor()->set_tensor_content("12345");
  tensorflow::RunGraphRequest rest;
  std::vector<NamedTensor> read;
  Status status = ParseWithNamedTensors(SerializeMessage(request), 3, "feed value", &rest, &read);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message().substr(0, 36), "Invalid TensorProto for feed value 0");
}

TEST(TensorCodec, ImpossibleShapesAreErrors) {
  for (int64_t size : {int64_t{-3}, int64_t{1} << 62}) {
    tensorflow::TensorProto proto;
    proto.set_dtype(tensorflow::DT_DOUBLE);
    for (int i = 0; i < 2; ++i) proto.mutable_tensor_shape()->add_dim()->set_size(size);
    proto.set_tensor_content("12345678");
    const std::string bytes = proto.SerializeAsString();
    WireReader reader(Pieces(bytes, 5));
    Tensor read;
    EXPECT_FALSE(DecodeTensor(&reader, bytes.size(), &read).ok());
  }
}

TEST(TensorCodec, HostileBytesAreErrorsOrTensors) {
  tensorflow::RunGraphRequest request;
  request.set_graph_handle("graph");
  const Tensor a = Ramp(20), b = Tensor::Of<std::string>({2}, {"x", "yz"});
  const NamedTensorView views[] = {{"a", &a}, {"b", &b}};
  const std::string good = Join(SerializeWithNamedTensors(request, 3, views));
  google::protobuf::SetLogHandler(nullptr);  // it would report each broken string
  std::mt19937 random(7);
  for (int turn = 0; turn < 20000; ++turn) {
    std::string bytes = good.substr(0, random() % (good.size() + 1));
    for (int i = random() % 4; i > 0 && !bytes.empty(); --i) bytes[random() % bytes.size()] = static_cast<char>(random());
    tensorflow::RunGraphRequest rest;
    std::vector<NamedTensor> read;
    ParseWithNamedTensors(Pieces(bytes, 1 + random() % 9), 3, "send", &rest, &read).IgnoreError();  // must only not crash
    Tensor tensor;
    bool is_dead;
    DecodeRecvTensorResponse(Pieces(bytes, 1 + random() % 9), &tensor, &is_dead).IgnoreError();
  }
}

}  // namespace
}  // namespace tandem
