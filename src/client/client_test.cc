#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/node.h"
#include "proto/graph.pb.h"
#include "tandem/error.h"
#include "tandem/gradients.h"
#include "tandem/ops.h"
#include "tandem/session.h"
#include "tandem/variable.h"

namespace tandem {
namespace {

float ScalarOf(const Tensor& tensor) { return tensor.scalar<float>(); }

absl::StatusCode CodeOf(const std::function<void()>& body, std::string* message = nullptr) {
  try {
    body();
  } catch (const Error& error) {
    if (message != nullptr) *message = std::string(error.status().message());
    return error.code();
  }
  return absl::StatusCode::kOk;
}

TEST(Session, RunsWhatIsFetchedWithWhatIsFed) {
  Graph g;
  Output x = Placeholder(g, kFloat, {}, "x");
  Output y = Identity(x, "y");
  Session session(g);
  std::vector<Tensor> out = session.Run({y, NoOp(g, "nothing"), "x:0"}, {{x, 3.5f}});
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(ScalarOf(out[0]), 3.5f);
  EXPECT_FALSE(out[1].has_value());
  EXPECT_EQ(ScalarOf(out[2]), 3.5f);
}

TEST(Session, TakesNodesThatWereAddedAfterARun) {
  Graph g;
  Output x = Const(g, 1.0f);
  Session session(g);
  session.Run({x});
  Output y = Identity(x);
  EXPECT_EQ(ScalarOf(session.Run({y})[0]), 1.0f);
}

TEST(Session, ConvertsFedNumbersAsCppDoes) {
  Graph g;
  Output x = Placeholder(g, kFloat, {}, "x");
  Session session(g);
  EXPECT_EQ(ScalarOf(session.Run({x}, {{x, 2}})[0]), 2.0f);
  EXPECT_EQ(ScalarOf(session.Run({x}, {{"x:0", 0.5}})[0]), 0.5f);
}

TEST(Session, RefusesFedValuesOfTheWrongTypeOrShape) {
  Graph g;
  Output x = Placeholder(g, kInt32, {2}, "x");
  Session session(g);
  std::string message;
  EXPECT_EQ(CodeOf([&] { session.Run({x}, {{x, 1.5f}}); }, &message), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(message, testing::AllOf(testing::HasSubstr("x:0"), testing::HasSubstr("float"), testing::HasSubstr("int32")));
  EXPECT_EQ(CodeOf([&] { session.Run({x}, {{x, std::vector<int32_t>{1, 2, 3}}}); }, &message), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(message, testing::AllOf(testing::HasSubstr("[3]"), testing::HasSubstr("[2]")));
}

TEST(Session, NamesAFetchThatDoesNotExist) {
  Graph g;
  Session session(g);
  std::string message;
  EXPECT_EQ(CodeOf([&] { session.Run({"nope:0"}); }, &message), absl::StatusCode::kNotFound);
  EXPECT_THAT(message, testing::HasSubstr("nope"));
}

TEST(Session, NamesAPlaceholderThatIsNotFed) {
  Graph g;
  Output x = Placeholder(g, kFloat, {}, "x");
  Session session(g);
  std::string message;
  EXPECT_EQ(CodeOf([&] { session.Run({Identity(x)}); }, &message), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(message, testing::HasSubstr("'x'"));
}

TEST(Session, RefusesRunsAfterClose) {
  Graph g;
  Output x = Const(g, 1.0f);
  Session session(g);
  session.Close();
  EXPECT_EQ(CodeOf([&] { session.Run({x}); }), absl::StatusCode::kFailedPrecondition);
}

TEST(Callable, GivesValuesByPosition) {
  Graph g;
  Output a = Placeholder(g, kFloat, {}, "a"), b = Placeholder(g, kFloat, {}, "b");
  Session session(g);
  Callable swap = session.MakeCallable({a, b}, {b, a});
  std::vector<Tensor> out = swap.Run({1.0f, 2.0f});
  EXPECT_EQ(ScalarOf(out[0]), 2.0f);
  EXPECT_EQ(ScalarOf(out[1]), 1.0f);
  EXPECT_EQ(CodeOf([&] { swap.Run({1.0f}); }), absl::StatusCode::kInvalidArgument);
}

TEST(Variable, KeepsItsValueBetweenRuns) {
  for (bool use_resource : {true, false}) {
    Graph g;
    Variable v(g, Const(g, Tensor(std::vector<float>{1, 2})), "v", {.use_resource = use_resource});
    Operation add = v.AssignAdd(Const(g, Tensor(std::vector<float>{10, 20})));
    Session session(g);
    session.Run({v.initializer()});
    session.Run({add});
    EXPECT_THAT(session.Run({v})[0].values<float>(), testing::ElementsAre(11, 22));
  }
}

TEST(Variable, IsNamedInTheErrorWhenItHasNoValue) {
  Graph g;
  Variable v(g, Zeros(g, {2}), "weight");
  Session session(g);
  std::string message;
  EXPECT_EQ(CodeOf([&] { session.Run({v}); }, &message), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(message, testing::HasSubstr("weight"));
}

TEST(Variable, NamesAreThoseOfTensorFlow) {
  Graph g;
  Variable resource(g, Zeros(g, {2}), "w");
  Variable ref(g, Zeros(g, {2}), "r", {.use_resource = false});
  EXPECT_NE(g.FindNode("w/Assign"), nullptr);
  EXPECT_NE(g.FindNode("w/Read/ReadVariableOp"), nullptr);
  EXPECT_NE(g.FindNode("r/Assign"), nullptr);
  EXPECT_NE(g.FindNode("r/read"), nullptr);
  EXPECT_EQ(resource.handle().node->attrs().GetString("shared_name"), "w");
  EXPECT_EQ(Variable::FromHandle(ref.handle()).value(), ref.value());
}

TEST(GlobalStep, IsOnePerGraph) {
  Graph g;
  Variable step = GlobalStep(g);
  EXPECT_EQ(step.dtype(), kInt64);
  EXPECT_EQ(GlobalStep(g).handle(), step.handle());
}

}  // namespace
}  // namespace tandem
