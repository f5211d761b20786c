#include "cluster/cluster_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tandem {
namespace {

using testing::HasSubstr;

TEST(ClusterSpec, TextNamesJobsAndTasks) {
  ClusterSpec spec = ClusterSpec::FromText("chief|h:1;ps|h:2,h:3;worker|h:4").value();
  EXPECT_EQ(spec.task_count("ps"), 2);
  EXPECT_EQ(spec.Address({"ps", 1}).value(), "h:3");
  EXPECT_EQ(spec.tasks().front().prefix(), "/job:chief/replica:0/task:0");
}

TEST(ClusterSpec, MalformedAddressIsQuoted) {
  for (const char* address : {"::1:2222", "host", "host:", "host:99999", "host:-1", "http://h:1", "grpc://h:1", "h:1/"}) {
    Status status = TaskConfigFromFlags("ps", 0, address, "h:1").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << address;
    EXPECT_THAT(std::string(status.message()), HasSubstr(address));
  }
}

TEST(ClusterSpec, BracketedIpv6IsAnAddress) { EXPECT_EQ(TaskConfigFromFlags("ps", 0, "[::1]:2222", "h:1").value().cluster.Address({"ps", 0}).value(), "[::1]:2222"); }

TEST(ClusterSpec, IndexOutOfRangeNamesJobAndCount) {
  Status status = TaskConfigFromFlags("worker", 2, "h:1", "h:2,h:3").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("task index 2 is out of range: job worker has 2 tasks"));
}

TEST(ClusterSpec, UnknownJobListsTheJobs) {
  EXPECT_THAT(std::string(TaskConfigFromFlags("evaluator", 0, "h:1", "h:2").status().message()), HasSubstr("its jobs are: ps, worker"));
}

TEST(ClusterSpec, DuplicateAddressNamesBothTasks) {
  ClusterSpec spec = ClusterSpec::FromText("ps|h:1;worker|h:1,h:2").value();
  ASSERT_EQ(spec.DuplicateWarnings().size(), 1u);
  EXPECT_EQ(spec.DuplicateWarnings()[0], "address h:1 is given to both /job:ps/replica:0/task:0 and /job:worker/replica:0/task:0");
}

TEST(ClusterSpec, TaskNameIsParsedWithAndWithoutDevice) {
  TaskName task;
  EXPECT_TRUE(ParseTaskName("/job:ps/replica:0/task:3/device:CPU:0", &task));
  EXPECT_EQ(task, (TaskName{"ps", 3}));
  EXPECT_FALSE(ParseTaskName("/task:1", &task));
  EXPECT_EQ(TaskOfDevice("/job:ps/replica:0/task:3/device:CPU:0"), "/job:ps/replica:0/task:3");
}

constexpr char kCluster[] = R"("cluster": {"chief": ["c:1"], "worker": ["w:1"], "ps": ["p:1"]})";

TEST(TfConfig, UnsetOrEmptyMeansNoCluster) {
  for (const char* text : {"", "{}"}) {
    TaskConfig config = TaskConfigFromJson(text).value();
    EXPECT_TRUE(config.cluster.empty());
    EXPECT_TRUE(config.is_chief);
  }
}

TEST(TfConfig, ChiefJobIsChief) {
  TaskConfig config = TaskConfigFromJson(absl::StrCat("{", kCluster, R"(, "task": {"type": "chief", "index": 0}})")).value();
  EXPECT_TRUE(config.is_chief);
  EXPECT_EQ(config.task, (TaskName{"chief", 0}));
  EXPECT_EQ(config.cluster.task_count("ps"), 1);
}

TEST(TfConfig, WorkerBesideAChiefIsNotChief) {
  EXPECT_FALSE(TaskConfigFromJson(absl::StrCat("{", kCluster, R"(, "task": {"type": "worker", "index": "0"}})")).value().is_chief);
}

TEST(TfConfig, MasterIsChief) {
  EXPECT_TRUE(TaskConfigFromJson(R"({"cluster": {"master": ["m:1"], "worker": ["w:1"]}, "task": {"type": "master", "index": 0}})").value().is_chief);
}

TEST(TfConfig, EvaluatorIsOutsideTheCluster) {
  TaskConfig config = TaskConfigFromJson(absl::StrCat("{", kCluster, R"(, "task": {"type": "evaluator", "index": 0}})")).value();
  EXPECT_TRUE(config.is_evaluator);
  EXPECT_FALSE(config.is_chief);
  EXPECT_TRUE(config.cluster.empty());
}

TEST(TfConfig, BrokenJsonIsAnError) {
  for (const char* text : {"{", "[]", "3", R"({"cluster": 1})", R"({"cluster": {"ps": "p:1"}})", R"({"cluster": {"ps": [1]}})", R"({"task": 3})",
                           R"({"cluster": {"ps": ["p:1"]}})", R"({"cluster": {"ps": ["p:1"]}, "task": {"type": "ps", "index": 4}})"}) {
    EXPECT_EQ(TaskConfigFromJson(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace tandem
