#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "graph/node.h"
#include "tandem/error.h"
#include "tandem/ops.h"
#include "tandem/optimizer.h"
#include "tandem/session.h"

namespace tandem {
namespace {

// w of the loss (w - 3)², from 1, after `steps` steps.
struct Trained {
  float w;
  int64_t step;
  std::vector<std::string> variables;
};

Trained Train(Optimizer& optimizer, int steps, bool use_resource = true) {
  Graph g;
  Variable w(g, Const(g, 1.0f), "w", {.use_resource = use_resource});
  Variable step = GlobalStep(g);
  Operation train = optimizer.Minimize(Square(w - 3.0), step);
  Operation init = GlobalVariablesInitializer(g);
  Session session(g);
  session.Run({init});
  for (int i = 0; i < steps; ++i) session.Run({train});
  std::vector<Tensor> out = session.Run({w, step});
  Trained trained{out[0].scalar<float>(), out[1].scalar<int64_t>(), {}};
  for (const Variable& variable : Variable::Collection(g, kGlobalVariables)) trained.variables.push_back(variable.name());
  return trained;
}

TEST(GradientDescent, StepsAgainstTheGradient) {
  for (bool use_resource : {true, false}) {
    GradientDescent optimizer(0.1f);
    Trained trained = Train(optimizer, 1, use_resource);
    EXPECT_NEAR(trained.w, 1 + 0.1 * 4, 1e-6);  // the gradient at 1 is 2 (1 - 3)
    EXPECT_EQ(trained.step, 1);
    EXPECT_THAT(trained.variables, testing::ElementsAre("w", "global_step"));
  }
}

TEST(Momentum, KeepsItsDirection) {
  for (bool use_resource : {true, false}) {
    Momentum optimizer(0.1f, 0.9f);
    Trained trained = Train(optimizer, 2, use_resource);
    // m1 = -4, w1 = 1.4; m2 = 0.9 m1 - 3.2 = -6.8, w2 = 2.08
    EXPECT_NEAR(trained.w, 2.08, 1e-5);
    EXPECT_THAT(trained.variables, testing::ElementsAre("w", "global_step", "w/Momentum"));
  }
}

TEST(Adagrad, DividesByTheRootOfAllSquares) {
  Adagrad optimizer(0.1f, 0.1f);
  Trained trained = Train(optimizer, 1);
  EXPECT_NEAR(trained.w, 1 + 0.1 * 4 / std::sqrt(0.1 + 16), 1e-5);
  EXPECT_THAT(trained.variables, testing::ElementsAre("w", "global_step", "w/Adagrad"));
}

TEST(Adam, TakesStepsOfAboutItsRate) {
  for (bool use_resource : {true, false}) {
    Adam optimizer(0.1f);
    Trained trained = Train(optimizer, 1, use_resource);
    EXPECT_NEAR(trained.w, 1.1, 1e-5);  // the first step is the rate, whatever the gradient
    EXPECT_THAT(trained.variables, testing::ElementsAre("w", "global_step", "beta1_power", "beta2_power", "w/Adam", "w/Adam_1"));
  }
}

TEST(Adam, RaisesItsPowersOncePerStep) {
  Graph g;
  Variable w(g, Const(g, 1.0f), "w");
  Adam optimizer(0.1f);
  Operation train = optimizer.Minimize(Square(w - 3.0));
  Operation init = GlobalVariablesInitializer(g);
  Session session(g);
  session.Run({init});
  for (int i = 0; i < 3; ++i) session.Run({train});
  EXPECT_NEAR(session.Run({Variable::FromHandle(*g.FindOutput("beta1_power"))})[0].scalar<float>(), std::pow(0.9, 4), 1e-6);
}

TEST(RMSProp, DividesByTheRootOfTheMeanSquare) {
  RMSProp optimizer(0.1f);
  Trained trained = Train(optimizer, 1);
  EXPECT_NEAR(trained.w, 1 + 0.1 * 4 / std::sqrt(0.9 * 1 + 0.1 * 16), 1e-5);
  EXPECT_THAT(trained.variables, testing::ElementsAre("w", "global_step", "w/RMSProp", "w/RMSProp_1"));
}

TEST(Optimizer, LivesWithItsVariables) {
  Graph g;
  DeviceScope device(g, "/job:ps/task:1");
  Variable w(g, Const(g, 1.0f), "w");
  DeviceScope elsewhere(g, "/job:worker/task:0");
  Momentum optimizer(0.1f, 0.9f);
  optimizer.Minimize(Square(w - 3.0));
  EXPECT_EQ(optimizer.slot(w, "momentum").handle().node->device, "/job:ps/task:1");
  for (const auto& node : g.nodes()) {
    if (node->op_name() != "ResourceApplyMomentum") continue;
    EXPECT_EQ(node->device, "/job:ps/task:1");
  }
}

TEST(Optimizer, SaysThatALossDependsOnNothing) {
  Graph g;
  Variable w(g, Const(g, 1.0f), "w");
  GradientDescent optimizer(0.1f);
  try {
    optimizer.Minimize(Const(g, 1.0f));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(error.what(), testing::HasSubstr("(w)"));
  }
}

}  // namespace
}  // namespace tandem
