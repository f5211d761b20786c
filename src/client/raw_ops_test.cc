#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/op.h"
#include "proto/config.pb.h"
#include "tandem/error.h"
#include "tandem/ops.h"
#include "tandem/raw_ops.h"
#include "tandem/session.h"

namespace tandem {
namespace {

using testing::ElementsAre;

TEST(RawOps, TakeOptionalAttrsByName) {
  Graph g;
  Output a = Const(g, Tensor::Of<float>({2, 1}, {1, 2}));
  Session session(g);
  Tensor product = session.Run({ops::MatMul(a, a, {.transpose_a = true})})[0];
  EXPECT_EQ(product.shape(), (Shape{1, 1}));
  EXPECT_EQ(product.scalar<float>(), 5.0f);
}

TEST(RawOps, TakeTheGraphWhereThereAreNoInputs) {
  Graph g;
  Output x = ops::Placeholder(g, kFloat, {.shape = PartialShape({2})}, "in");
  EXPECT_EQ(x.name(), "in:0");
  EXPECT_EQ(x.shape(), (PartialShape{2}));
}

TEST(RawOps, ReturnListsOfOutputs) {
  Graph g;
  OutputList parts = ops::Split(Const(g, 0), Const(g, Tensor(std::vector<float>{1, 2, 3, 4})), 2);
  ASSERT_EQ(parts.size(), 2u);
  Session session(g);
  EXPECT_THAT(session.Run({parts[1]})[0].values<float>(), ElementsAre(3, 4));
}

TEST(RawOps, ReturnNamedOutputs) {
  Graph g;
  ops::TopKV2Outputs top = ops::TopKV2(Const(g, Tensor(std::vector<float>{1, 9, 4})), Const(g, 2));
  Session session(g);
  std::vector<Tensor> out = session.Run({top.values, top.indices});
  EXPECT_THAT(out[0].values<float>(), ElementsAre(9, 4));
  EXPECT_THAT(out[1].values<int32_t>(), ElementsAre(1, 2));
}

TEST(RawOps, SayWhatIsWrong) {
  Graph g;
  try {
    ops::MatMul(Const(g, 1.0f), Const(g, 1));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(error.what(), testing::HasSubstr("MatMul"));
  }
}

TEST(Session, TracesARunIfAsked) {
  Graph g;
  Output sum = Const(g, 1.0f) + Const(g, 2.0f);
  Session session(g);
  RunMetadata metadata;
  session.Run({.trace = true}, {sum}, {}, &metadata);
  tensorflow::RunMetadata proto;
  ASSERT_TRUE(proto.ParseFromString(metadata.serialized));
  EXPECT_GT(proto.step_stats().dev_stats_size(), 0);
}

TEST(Session, RunsAnImportedGraphByName) {
  std::string serialized;
  {
    Graph g;
    Placeholder(g, kFloat, {}, "x") * 2.0;
    serialized = g.ToGraphDef();
  }
  Graph g;
  g.ImportGraphDef(serialized, "copy");
  Session session(g);
  EXPECT_EQ(session.Run({"copy/mul:0"}, {{"copy/x:0", 21.0f}})[0].scalar<float>(), 42.0f);
}

}  // namespace
}  // namespace tandem
