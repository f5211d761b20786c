#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "proto/summary.pb.h"
#include "summary/event_reader.h"
#include "tandem/error.h"
#include "tandem/ops.h"
#include "tandem/optimizer.h"
#include "tandem/supervisor.h"
#include "train/test_directory.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// The loss (w - 1)² / 2 with w from 0: each step with rate 0.1 takes a tenth of what is left.
struct Toy {
  Toy() : w(g, Const(g, 0.0f), "w"), step(GlobalStep(g)), train(GradientDescent(0.1f).Minimize(Square(w - 1.0) * 0.5, step)) {}
  Graph g;
  Variable w, step;
  Operation train;
};

int64_t StepOf(Session& session, const Variable& step) { return session.Run({step})[0].scalar<int64_t>(); }

std::vector<tensorflow::Event> EventsIn(const std::string& directory) {
  std::vector<tensorflow::Event> events;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (!absl::StrContains(entry.path().filename().string(), "tfevents")) continue;
    auto reader = EventReader::Open(entry.path().string());
    EXPECT_TRUE(reader.ok());
    tensorflow::Event event;
    while ((*reader)->Next(&event).ok()) events.push_back(event);
  }
  return events;
}

bool HasTag(const std::vector<tensorflow::Event>& events, const std::string& tag) {
  for (const tensorflow::Event& event : events) {
    for (const auto& value : event.summary().value()) {
      if (value.tag() == tag) return true;
    }
  }
  return false;
}

absl::Status StatusOf(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.status();
  }
  return absl::OkStatus();
}

TEST(Supervisor, InitialisesWithoutACheckpoint) {
  TestDirectory dir;
  Toy toy;
  Supervisor sv(toy.g, {.logdir = dir.path(), .save_model_secs = 0});
  Session& session = sv.ManagedSession();
  for (int i = 0; i < 10; ++i) session.Run({toy.train});
  EXPECT_NEAR(session.Run({toy.w})[0].scalar<float>(), 0.65132156, 1e-5);
}

TEST(Supervisor, GoesOnFromTheLastCheckpoint) {
  TestDirectory dir;
  {
    Toy toy;
    Supervisor sv(toy.g, {.logdir = dir.path(), .save_model_secs = 0});
    Session& session = sv.ManagedSession();
    for (int i = 0; i < 10; ++i) session.Run({toy.train});
    EXPECT_EQ(sv.SaveNow(), dir / "model.ckpt-10");
  }
  Toy toy;
  Supervisor sv(toy.g, {.logdir = dir.path(), .save_model_secs = 0});
  Session& session = sv.ManagedSession();
  EXPECT_EQ(StepOf(session, toy.step), 10);
  EXPECT_NEAR(session.Run({toy.w})[0].scalar<float>(), 0.65132156, 1e-5);
}

TEST(Supervisor, NeverStartsFromZeroOverADamagedCheckpoint) {
  TestDirectory dir;
  {
    Toy toy;
    Supervisor sv(toy.g, {.logdir = dir.path(), .save_model_secs = 0});
    sv.ManagedSession();
    sv.SaveNow();
  }
  fs::resize_file(dir / "model.ckpt-0.index", 10);
  Toy toy;
  Supervisor sv(toy.g, {.logdir = dir.path()});
  absl::Status status = StatusOf([&] { sv.ManagedSession(); });
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("model.ckpt-0"));
}

TEST(Supervisor, FailsIfTheCheckpointThatTheStateNamesIsGone) {
  TestDirectory dir;
  std::ofstream(dir / "checkpoint") << "model_checkpoint_path: \"model.ckpt-7\"\n";
  Toy toy;
  Supervisor sv(toy.g, {.logdir = dir.path()});
  absl::Status status = StatusOf([&] { sv.ManagedSession(); });
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr(dir / "model.ckpt-7"));
}

TEST(Supervisor, WritesGraphSummariesAndCheckpointsToTheEventFile) {
  TestDirectory dir;
  Toy toy;
  summary::Scalar("w_now", toy.w);
  Supervisor sv(toy.g, {.logdir = dir.path()});
  Session& session = sv.ManagedSession();
  session.Run({toy.train});
  // Both timers start at once; the checkpoint is the slower.
  while (Saver::LatestCheckpoint(dir.path()).empty()) session.Run({toy.train});
  sv.Stop();
  const std::vector<tensorflow::Event> events = EventsIn(dir.path());
  EXPECT_TRUE(HasTag(events, "w_now"));
  EXPECT_EQ(events[0].file_version(), "brain.Event:2");
  EXPECT_TRUE(std::any_of(events.begin(), events.end(), [](const auto& event) { return !event.graph_def().empty(); }));
  EXPECT_TRUE(std::any_of(events.begin(), events.end(), [](const auto& event) { return event.session_log().status() == tensorflow::SessionLog::CHECKPOINT; }));
}

TEST(Supervisor, WritesSummariesThatNeedFeedsWithTheRunsThatHaveThem) {
  TestDirectory dir;
  Toy toy;
  Output x = Placeholder(toy.g, kFloat, {}, "x");
  summary::Scalar("scaled", toy.w * x);
  Supervisor sv(toy.g, {.logdir = dir.path(), .save_model_secs = 0});
  Session& session = sv.ManagedSession();
  session.Run({toy.train});
  EXPECT_FALSE(HasTag(EventsIn(dir.path()), "scaled"));
  std::vector<Tensor> out = session.Run({toy.train, toy.step}, {{x, 2.0f}});
  EXPECT_EQ(out.size(), 2u);
  EXPECT_FALSE(out[0].has_value());
  EXPECT_TRUE(HasTag(EventsIn(dir.path()), "scaled"));
}

TEST(Supervisor, ReportsABackgroundFailureToTheLoop) {
  TestDirectory dir;
  Toy toy;
  Output x = Placeholder(toy.g, kFloat, {}, "x");
  summary::Scalar("scaled", toy.w * x);
  Output merged = summary::MergeAll(toy.g);
  Supervisor sv(toy.g, {.logdir = dir.path(), .summary_op = merged, .save_summaries_secs = 1, .save_model_secs = 0});
  Session& session = sv.ManagedSession();
  absl::Status status = StatusOf([&] {
    while (!sv.ShouldStop()) session.Run({toy.train});
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("'x'"));
}

TEST(Supervisor, HasNoWriterOnOtherTasks) {
  Toy toy;
  Supervisor sv(toy.g, {.is_chief = false});
  EXPECT_EQ(StatusOf([&] { sv.SummaryComputed(Tensor(""), 1); }).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(Supervisor, GivesUpWaitingForTheChief) {
  Toy toy;
  Supervisor sv(toy.g, {.is_chief = false, .max_wait_secs = 0.2});
  absl::Status status = StatusOf([&] { sv.ManagedSession(); });
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()), testing::AllOf(HasSubstr("w"), HasSubstr("global_step")));
}

TEST(Supervisor, NamesALogdirThatCannotBeMade) {
  TestDirectory dir;
  std::ofstream(dir / "file") << "in the way";
  Toy toy;
  absl::Status status = StatusOf([&] { Supervisor sv(toy.g, {.logdir = dir / "file/log"}); });
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(dir / "file/log"));
}

TEST(Supervisor, RunsLocalInitOnEveryTask) {
  Toy toy;
  Variable counter(toy.g, Const(toy.g, 5.0f), "counter", {.is_local = true});
  Supervisor sv(toy.g);
  EXPECT_EQ(sv.ManagedSession().Run({counter})[0].scalar<float>(), 5.0f);
}

TEST(Supervisor, StopsWhenAsked) {
  Toy toy;
  Supervisor sv(toy.g);
  sv.ManagedSession();
  EXPECT_FALSE(sv.ShouldStop());
  sv.RequestStop();
  EXPECT_TRUE(sv.ShouldStop());
}

}  // namespace
}  // namespace tandem
