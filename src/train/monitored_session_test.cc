#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tandem/error.h"
#include "tandem/monitored_session.h"
#include "tandem/ops.h"
#include "tandem/optimizer.h"
#include "train/test_directory.h"

namespace tandem {
namespace {

struct Toy {
  Toy() : w(g, Const(g, 0.0f), "w"), step(GlobalStep(g)), train(GradientDescent(0.1f).Minimize(Square(w - 1.0) * 0.5, step)) {}
  Graph g;
  Variable w, step;
  Operation train;
};

// Notes what it sees.
class Diary : public SessionHook {
 public:
  explicit Diary(Output fetch) : fetch_(fetch) {}
  void Begin(Graph&) override { entries.push_back("begin"); }
  void AfterCreateSession(Session&) override { entries.push_back("session"); }
  std::vector<Fetch> BeforeRun(RunContext&) override { return {fetch_}; }
  void AfterRun(RunContext&, const std::vector<Tensor>& values) override { entries.push_back("run " + std::to_string(values.size())); }
  void End(Session&) override { entries.push_back("end"); }
  std::vector<std::string> entries;

 private:
  Output fetch_;
};

int RunsUntilStop(MonitoredSession& session, const Toy& toy) {
  int runs = 0;
  while (!session.ShouldStop()) {
    session.Run({toy.train});
    ++runs;
  }
  return runs;
}

TEST(MonitoredSession, CallsHooksInOrder) {
  Toy toy;
  auto diary = std::make_shared<Diary>(toy.w.value());
  {
    MonitoredSession session(toy.g, {.hooks = {diary}});
    EXPECT_EQ(session.Run({toy.train, toy.step}).size(), 2u);
  }
  EXPECT_THAT(diary->entries, testing::ElementsAre("begin", "session", "run 1", "end"));
}

TEST(MonitoredSession, StopsAtAStep) {
  Toy toy;
  MonitoredSession session(toy.g, {.hooks = {StopAtStepHook::At(20)}});
  EXPECT_EQ(RunsUntilStop(session, toy), 20);
  EXPECT_NEAR(session.session().Run({toy.w})[0].scalar<float>(), 0.87842335, 1e-5);
}

TEST(MonitoredSession, SavesAtTheEndAndGoesOnFromThere) {
  TestDirectory dir;
  for (int64_t expected : {5, 10}) {
    Toy toy;
    MonitoredSession session(toy.g, {.checkpoint_dir = dir.path(), .hooks = {StopAtStepHook::After(5)}});
    EXPECT_EQ(RunsUntilStop(session, toy), 5);
    EXPECT_EQ(session.session().Run({toy.step})[0].scalar<int64_t>(), expected);
  }
  EXPECT_EQ(Saver::LatestCheckpoint(dir.path()), dir / "model.ckpt-10");
}

TEST(MonitoredSession, SkipsEndAfterAnError) {
  Toy toy;
  Output x = Placeholder(toy.g, kFloat, {}, "x");
  Output y = Identity(x);
  auto diary = std::make_shared<Diary>(toy.w.value());
  {
    MonitoredSession session(toy.g, {.hooks = {diary}});
    EXPECT_THROW(session.Run({y}), Error);
  }
  EXPECT_THAT(diary->entries, testing::ElementsAre("begin", "session"));
}

TEST(IntervalTimer, CountsSteps) {
  IntervalTimer timer({.steps = 10});
  EXPECT_TRUE(timer.ShouldTrigger(0));
  timer.Trigger(0);
  EXPECT_FALSE(timer.ShouldTrigger(9));
  EXPECT_TRUE(timer.ShouldTrigger(10));
  EXPECT_EQ(timer.Trigger(12).second, 12);
}

}  // namespace
}  // namespace tandem
