#include <gtest/gtest.h>

#include <thread>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "proto/summary.pb.h"
#include "summary/event_reader.h"
#include "summary/event_writer.h"

namespace tandem {
namespace {

std::string FreshDirectory() { return absl::StrCat(testing::TempDir(), "event_test_", RandomUint64(), "/a/b"); }

std::vector<tensorflow::Event> ReadEvents(const std::string& path) {
  StatusOr<std::unique_ptr<EventReader>> reader = EventReader::Open(path);
  EXPECT_TRUE(reader.ok()) << reader.status();
  std::vector<tensorflow::Event> events;
  tensorflow::Event event;
  Status status;
  while ((status = (*reader)->Next(&event)).ok()) events.push_back(event);
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  return events;
}

TEST(EventWriter, NamesItsFileAsTensorBoardWants) {
  std::string directory = FreshDirectory();
  StatusOr<std::unique_ptr<EventWriter>> writer = EventWriter::Create(directory, {.suffix = ".x"});
  ASSERT_TRUE(writer.ok()) << writer.status();
  std::string name((BaseName((*writer)->path())));
  EXPECT_TRUE(absl::StartsWith(name, "events.out.tfevents.")) << name;
  EXPECT_TRUE(absl::EndsWith(name, ".x")) << name;
  EXPECT_EQ(name[30], '.') << "ten digits of seconds in " << name;
  std::vector<tensorflow::Event> events = ReadEvents((*writer)->path());
  ASSERT_EQ(events.size(), 1u) << "the first record is there at once";
  EXPECT_EQ(events[0].file_version(), "brain.Event:2");
  EXPECT_GT(events[0].wall_time(), 1e9);
}

TEST(EventWriter, TwoInTheSameSecondHaveTwoFiles) {
  std::string directory = FreshDirectory();
  StatusOr<std::unique_ptr<EventWriter>> one = EventWriter::Create(directory), two = EventWriter::Create(directory);
  EXPECT_NE((*one)->path(), (*two)->path());
}

TEST(EventWriter, KeepsBackAFewEventsUntilFlush) {
  StatusOr<std::unique_ptr<EventWriter>> writer = EventWriter::Create(FreshDirectory(), {.max_pending = 3});
  ASSERT_TRUE((*writer)->WriteScalar("loss", 0.5f, 1).ok());
  ASSERT_TRUE((*writer)->WriteScalar("loss", 0.4f, 2).ok());
  EXPECT_EQ(ReadEvents((*writer)->path()).size(), 1u);
  ASSERT_TRUE((*writer)->WriteScalar("loss", 0.3f, 3).ok());
  EXPECT_EQ(ReadEvents((*writer)->path()).size(), 4u);
  ASSERT_TRUE((*writer)->WriteGraph("graph").ok());
  ASSERT_TRUE((*writer)->Flush().ok());
  std::vector<tensorflow::Event> events = ReadEvents((*writer)->path());
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(events[3].step(), 3);
  EXPECT_EQ(events[3].summary().value(0).tag(), "loss");
  EXPECT_EQ(events[4].graph_def(), "graph");
}

TEST(EventWriter, TakesSerialisedSummaries) {
  StatusOr<std::unique_ptr<EventWriter>> writer = EventWriter::Create(FreshDirectory());
  tensorflow::Summary summary;
  summary.add_value()->set_tag("t");
  ASSERT_TRUE((*writer)->WriteSummary(summary.SerializeAsString(), 7).ok());
  EXPECT_EQ((*writer)->WriteSummary("\x0a\x05", 7).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE((*writer)->Close().ok());
  EXPECT_EQ(ReadEvents((*writer)->path())[1].summary().value(0).tag(), "t");
  EXPECT_EQ((*writer)->Close().code(), absl::StatusCode::kOk);
}

TEST(EventWriter, ThreadsDoNotMixTheirRecords) {
  StatusOr<std::unique_ptr<EventWriter>> writer = EventWriter::Create(FreshDirectory());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) (*writer)->WriteScalar(absl::StrCat("tag", t), 1, i).IgnoreError();  // counted below
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE((*writer)->Flush().ok());
  EXPECT_EQ(ReadEvents((*writer)->path()).size(), 401u);
}

TEST(EventReader, AHalfWrittenEventIsTheEndForNow) {
  std::string path = absl::StrCat(testing::TempDir(), "event_test_", RandomUint64());
  ASSERT_TRUE(WriteWholeFile(path, absl::HexStringToBytes("1800000000000000a37f4b2209000000000000f03f1a0d6272")).ok());
  EXPECT_TRUE(ReadEvents(path).empty());
}

TEST(EventReader, GoldenFirstRecord) {
  std::string path = absl::StrCat(testing::TempDir(), "event_test_", RandomUint64());
  ASSERT_TRUE(WriteWholeFile(path, absl::HexStringToBytes("1800000000000000a37f4b2209000000000000f03f1a0d627261696e2e4576656e743a3286bf577a")).ok());
  std::vector<tensorflow::Event> events = ReadEvents(path);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].wall_time(), 1.0);
  EXPECT_EQ(events[0].file_version(), "brain.Event:2");
}

}  // namespace
}  // namespace tandem
