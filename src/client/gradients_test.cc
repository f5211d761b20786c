#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/node.h"
#include "tandem/error.h"
#include "tandem/gradients.h"
#include "tandem/ops.h"
#include "tandem/session.h"
#include "tandem/variable.h"

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;

std::vector<float> Evaluate(const Output& output, const std::vector<Feed>& feeds = {}) {
  Session session(output.graph());
  Tensor value = session.Run({output}, feeds)[0];
  return std::vector<float>(value.values<float>().begin(), value.values<float>().end());
}

TEST(Gradients, FollowTheChainRule) {
  Graph g;
  Output x = Placeholder(g, kFloat, {}, "x");
  Output y = (x * x + 3.0 * x) * 2.0;
  EXPECT_THAT(Evaluate(Gradients({y}, {x})[0], {{x, 5.0f}}), ElementsAre(2 * (2 * 5.0f + 3)));
}

TEST(Gradients, SumOverAllPaths) {
  Graph g;
  Output x = Placeholder(g, kFloat, {}, "x");
  Output a = x * 2.0, b = x * 3.0;
  Output y = a + b + a;
  EXPECT_THAT(Evaluate(Gradients({y}, {x})[0], {{x, 1.0f}}), ElementsAre(7.0f));
}

TEST(Gradients, AreInvalidWhereNothingDepends) {
  Graph g;
  Output x = Placeholder(g, kFloat, {}, "x"), z = Placeholder(g, kFloat, {}, "z");
  OutputList gradients = Gradients({x * 2.0}, {x, z});
  EXPECT_TRUE(gradients[0].is_valid());
  EXPECT_FALSE(gradients[1].is_valid());
}

TEST(Gradients, AreWeightedByThoseOfY) {
  Graph g;
  Output x = Placeholder(g, kFloat, {}, "x");
  Output y = x * 2.0;
  OutputList gradients = Gradients({y}, {x}, {Const(g, 10.0f)});
  EXPECT_THAT(Evaluate(gradients[0], {{x, 1.0f}}), ElementsAre(20.0f));
}

TEST(Gradients, StopAtIntegers) {
  Graph g;
  Output x = Placeholder(g, kFloat, {}, "x");
  Output y = x + Cast(Cast(x, kInt32), kFloat);
  EXPECT_THAT(Evaluate(Gradients({y}, {x})[0], {{x, 4.0f}}), ElementsAre(1.0f));
}

TEST(Gradients, OfAVariableCountEveryRead) {
  for (bool use_resource : {true, false}) {
    Graph g;
    Variable v(g, Const(g, 3.0f), "v", {.use_resource = use_resource});
    Output y = v * v.Read();
    Output gradient = Gradients({y}, {v.handle()})[0];
    Session session(g);
    session.Run({v.initializer()});
    EXPECT_EQ(session.Run({gradient})[0].scalar<float>(), 6.0f);
  }
}

TEST(Gradients, OfAnIntermediateValue) {
  Graph g;
  Output x = Placeholder(g, kFloat, {}, "x");
  Output middle = x * 4.0;
  Output y = middle * middle;
  EXPECT_THAT(Evaluate(Gradients({y}, {middle})[0], {{x, 1.0f}}), ElementsAre(8.0f));
}

TEST(Gradients, RefuseWhatHasNoDerivative) {
  Graph g;
  Output x = Placeholder(g, kFloat, {}, "x");
  try {
    Gradients({Cast(x, kInt32)}, {x});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(error.what(), HasSubstr("int32"));
  }
}

TEST(Gradients, OfALinearRegressionAreTheTextbooks) {
  Graph g;
  Output x = Placeholder(g, kFloat, {}, "x"), y = Placeholder(g, kFloat, {}, "y");
  Variable w(g, Const(g, Tensor(std::vector<float>{0.5f})), "w"), b(g, Const(g, Tensor(std::vector<float>{0.1f})), "b");
  Output loss = ReduceMean(Square(y - (x * w + b)));
  OutputList gradients = Gradients({loss}, {w.handle(), b.handle()});
  Session session(g);
  session.Run({w.initializer(), b.initializer()});
  std::vector<Tensor> out = session.Run({gradients[0], gradients[1]}, {{x, 2.0f}, {y, 4.0f}});
  // d/dw (y - xw - b)² = -2x (y - xw - b)
  EXPECT_NEAR(out[0].scalar<float>(), -2 * 2 * 2.9f, 1e-5);
  EXPECT_NEAR(out[1].scalar<float>(), -2 * 2.9f, 1e-5);
}

TEST(ClipByGlobalNorm, ScalesOnlyWhatIsTooLong) {
  Graph g;
  Output a = Const(g, 3.0f), b = Const(g, 4.0f);
  OutputList clipped = ClipByGlobalNorm({a, b, Output()}, 1.0f);
  EXPECT_THAT(Evaluate(clipped[0]), ElementsAre(FloatNear(0.6f, 1e-6)));
  EXPECT_THAT(Evaluate(clipped[1]), ElementsAre(FloatNear(0.8f, 1e-6)));
  EXPECT_FALSE(clipped[2].is_valid());
  EXPECT_THAT(Evaluate(ClipByGlobalNorm({a}, 10.0f)[0]), ElementsAre(FloatNear(3.0f, 1e-6)));
}

}  // namespace
}  // namespace tandem
