#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "cluster/test_cluster.h"
#include "proto/device.pb.h"

namespace tandem {
namespace {

using testing::HasSubstr;

// w on the ps; y = w * x + 1 on the worker; step: w -= x on the ps.
TestGraph Line() {
  TestGraph graph;
  graph.Variable("w", 3, kPs).Placeholder("x", kWorker).Const("one", 1, kWorker);
  graph.Binary("wx", "Mul", "w/read", "x", kWorker).Binary("y", "Add", "wx", "one", kWorker);
  graph.Binary("step", "AssignSub", "w", "x", kPs);
  return graph;
}

std::string Text(const Status& status) { return std::string(status.message()); }

struct Way {
  bool use_phases, is_remote;
};

class StepTest : public testing::TestWithParam<Way> {
 protected:
  StepTest() : cluster_({.workers = 2, .use_phases = GetParam().use_phases}) {}
  std::unique_ptr<SessionBackend> NewSession(const tensorflow::ConfigProto& config = {}, int worker = 0) {
    return GetParam().is_remote ? cluster_.RemoteSession(worker, config) : cluster_.Session(worker, config);
  }
  std::unique_ptr<SessionBackend> Started(const TestGraph& graph) {
    std::unique_ptr<SessionBackend> session = NewSession();
    Status status = session->Extend(graph.def());
    if (status.ok()) status = RunTarget(*session, "w/Assign");
    EXPECT_TRUE(status.ok()) << status;
    return session;
  }
  TestCluster cluster_;
};

INSTANTIATE_TEST_SUITE_P(Ways, StepTest, testing::Values(Way{true, false}, Way{true, true}, Way{false, false}, Way{false, true}), [](const auto& info) {
  return std::string(info.param.use_phases ? "Phases" : "RecvTensor") + (info.param.is_remote ? "Remote" : "InProcess");
});

TEST_P(StepTest, ReadsAndUpdatesAVariableOfThePs) {
  auto session = Started(Line());
  EXPECT_EQ(RunFor(*session, "y:0", {{"x:0", Tensor(2.0f)}}).value(), 7);
  EXPECT_EQ(RunFor(*session, "step:0", {{"x:0", Tensor(1.0f)}}).value(), 2);
  EXPECT_EQ(RunFor(*session, "y:0", {{"x:0", Tensor(2.0f)}}).value(), 5);
}

TEST_P(StepTest, WorkersShareTheVariable) {
  auto first = Started(Line());
  TestGraph same;
  same.Variable("w", 100, kPs);
  auto second = NewSession({}, 1);
  ASSERT_TRUE(second->Extend(same.def()).ok());
  EXPECT_EQ(RunFor(*second, "w/read:0").value(), 3);
}

TEST_P(StepTest, IsolatedSessionsDoNotShare) {
  auto first = Started(Line());
  tensorflow::ConfigProto config;
  config.set_isolate_session_state(true);
  auto second = NewSession(config);
  ASSERT_TRUE(second->Extend(Line().def()).ok());
  EXPECT_EQ(RunFor(*second, "w/read:0").status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_P(StepTest, GraphGrows) {
  auto session = Started(Line());
  TestGraph more;
  more.Binary("z", "Add", "y", "y", kWorker);
  ASSERT_TRUE(session->Extend(more.def()).ok());
  EXPECT_EQ(RunFor(*session, "z:0", {{"x:0", Tensor(2.0f)}}).value(), 14);
  EXPECT_THAT(Text(session->Extend(more.def())), HasSubstr("includes node 'z', which was created by a previous call"));
}

TEST_P(StepTest, ErrorNamesNodeAndTask) {
  TestGraph graph = Line();
  graph.Variable("empty", 0, kPs).Binary("bad", "Add", "empty/read", "x", kWorker);
  auto session = Started(graph);
  for (int i = 0; i < 3; ++i) {
    Status status = RunFor(*session, "bad:0", {{"x:0", Tensor(2.0f)}}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(Text(status), HasSubstr("From /job:ps/replica:0/task:0:\nAttempting to use uninitialized value empty"));
    EXPECT_THAT(Text(status), HasSubstr("[[{{node empty/read}}]]"));
  }
  EXPECT_EQ(RunFor(*session, "y:0", {{"x:0", Tensor(2.0f)}}).value(), 7);
}

TEST_P(StepTest, WrongNamesAreErrors) {
  auto session = Started(Line());
  EXPECT_EQ(RunFor(*session, "zz:0").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(RunFor(*session, "y:3").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RunFor(*session, "y:0", {{"zz:0", Tensor(1.0f)}}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(RunTarget(*session, "zz").code(), absl::StatusCode::kNotFound);
}

TEST_P(StepTest, NodeOnATaskThatDoesNotExistFailsOnlyWhatNeedsIt) {
  TestGraph graph = Line();
  graph.Const("lost", 1, "/job:worker/task:77");
  auto session = Started(graph);
  EXPECT_EQ(RunFor(*session, "lost:0").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RunFor(*session, "y:0", {{"x:0", Tensor(2.0f)}}).value(), 7);
}

TEST_P(StepTest, CallableTakesValuesByPosition) {
  auto session = Started(Line());
  tensorflow::CallableOptions options;
  options.add_feed("x:0");
  options.add_fetch("y:0");
  options.add_fetch("x:0");
  EXPECT_FALSE(session->MakeCallable(options).ok());  // both fed and fetched
  options.mutable_fetch()->RemoveLast();
  const int64_t handle = session->MakeCallable(options).value();
  std::vector<Tensor> outputs;
  ASSERT_TRUE(session->RunCallable(handle, {Tensor(4.0f)}, &outputs, nullptr).ok());
  EXPECT_EQ(outputs.at(0).scalar<float>(), 13);
  EXPECT_EQ(session->RunCallable(handle, {}, &outputs, nullptr).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(session->RunCallable(99, {}, &outputs, nullptr).message(), "No such callable handle: 99");
  EXPECT_TRUE(session->ReleaseCallable(handle).ok());
}

TestGraph Waiting() {
  TestGraph graph = Line();
  graph.Add("queue", "FIFOQueueV2", {}, kPs, {{"component_types", "list { type: DT_FLOAT }"}});
  graph.Add("item", "QueueDequeueV2", {"queue"}, kPs, {{"component_types", "list { type: DT_FLOAT }"}});
  graph.Binary("sum", "Add", "item", "x", kWorker);
  return graph;
}

TEST_P(StepTest, TimeoutEndsAStepThatWaits) {
  auto session = Started(Waiting());
  EXPECT_EQ(RunFor(*session, "sum:0", {{"x:0", Tensor(2.0f)}}, /*timeout_ms=*/200).status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(RunFor(*session, "y:0", {{"x:0", Tensor(2.0f)}}).value(), 7);
}

TEST_P(StepTest, CloseEndsAStepThatWaits) {
  auto session = Started(Waiting());
  StatusOr<float> result;
  std::thread waiting([&] { result = RunFor(*session, "sum:0", {{"x:0", Tensor(2.0f)}}); });
  // The wait must have begun for the test to say something; if it has not, the step is refused, which is as good.
  std::this_thread::yield();
  EXPECT_TRUE(session->Close().ok());
  waiting.join();
  EXPECT_THAT(result.status().code(), testing::AnyOf(absl::StatusCode::kCancelled, absl::StatusCode::kFailedPrecondition, absl::StatusCode::kAborted));
  EXPECT_EQ(RunFor(*session, "w/read:0").status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_P(StepTest, ManyThreadsRunOneSession) {
  auto session = Started(Line());
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        StatusOr<float> y = RunFor(*session, "y:0", {{"x:0", Tensor(static_cast<float>(t + i))}});
        if (!y.ok() || *y != static_cast<float>(3 * (t + i) + 1)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(StepTest, TraceNamesTheNodesOfAllTasks) {
  auto session = Started(Line());
  tensorflow::RunOptions options;
  options.set_trace_level(tensorflow::RunOptions::FULL_TRACE);
  tensorflow::RunMetadata metadata;
  RunRequest request;
  request.feeds = {{"x:0", Tensor(1.0f)}};
  request.fetches = {"y:0"};
  request.options = &options;
  request.metadata = &metadata;
  std::vector<Tensor> outputs;
  ASSERT_TRUE(session->Run(request, &outputs).ok());
  std::map<std::string, std::string> nodes;
  for (const auto& device : metadata.step_stats().dev_stats()) {
    for (const auto& node : device.node_stats()) nodes[node.node_name()] = device.device();
  }
  EXPECT_EQ(nodes["w/read"], "/job:ps/replica:0/task:0/device:CPU:0");
  EXPECT_EQ(nodes["y"], "/job:worker/replica:0/task:0/device:CPU:0");
}

bool IsLost(const Status& status) { return status.code() == absl::StatusCode::kAborted || status.code() == absl::StatusCode::kUnavailable; }

TEST_P(StepTest, RestartedPsEndsTheSessionAndANewOneWorks) {
  auto session = Started(Line());
  EXPECT_EQ(RunFor(*session, "y:0", {{"x:0", Tensor(2.0f)}}).value(), 7);
  cluster_.Restart("ps", 0);
  for (int i = 0; i < 3; ++i) {
    Status lost = RunFor(*session, "y:0", {{"x:0", Tensor(2.0f)}}).status();
    EXPECT_TRUE(IsLost(lost)) << lost;
  }
  auto again = NewSession();
  ASSERT_TRUE(again->Extend(Line().def()).ok());
  EXPECT_EQ(RunFor(*again, "w/read:0").status().code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(RunTarget(*again, "w/Assign").ok());
  EXPECT_EQ(RunFor(*again, "y:0", {{"x:0", Tensor(2.0f)}}).value(), 7);
}

TEST_P(StepTest, StoppedPsFailsTheStep) {
  auto session = Started(Line());
  EXPECT_EQ(RunFor(*session, "y:0", {{"x:0", Tensor(2.0f)}}).value(), 7);
  cluster_.Stop("ps", 0);
  Status lost = RunFor(*session, "y:0", {{"x:0", Tensor(2.0f)}}).status();
  EXPECT_TRUE(IsLost(lost)) << lost;
}

TEST(Cluster, ConfigCanBringAClusterOfItsOwn) {
  TestCluster cluster({});
  tensorflow::ConfigProto config;
  ClusterSpec::FromText(absl::StrCat("mine|", cluster.address("worker", 0), ";other|", cluster.address("ps", 0))).value().ToProto(config.mutable_cluster_def());
  TestGraph graph;
  graph.Variable("v", 2, "/job:other/task:0").Placeholder("x", "/job:mine/task:0").Binary("y", "Mul", "v/read", "x", "/job:mine/task:0");
  for (bool is_remote : {true, false}) {
    auto session = is_remote ? cluster.RemoteSession(0, config) : cluster.Session(0, config);
    ASSERT_TRUE(session->Extend(graph.def()).ok());
    ASSERT_TRUE(RunTarget(*session, "v/Assign").ok());
    EXPECT_EQ(RunFor(*session, "y:0", {{"x:0", Tensor(4.0f)}}).value(), 8);
  }
}

TEST(Cluster, DeviceFiltersChooseTheTasks) {
  TestCluster cluster({.workers = 2, .starts = false});
  cluster.Start("ps", 0);
  cluster.Start("worker", 0);  // the other worker never comes
  tensorflow::ConfigProto config;
  config.add_device_filters("/job:ps");
  auto session = cluster.Session(0, config);
  ASSERT_TRUE(session->Extend(Line().def()).ok());
  std::vector<tensorflow::DeviceAttributes> devices;
  ASSERT_TRUE(session->ListDevices(&devices).ok());
  EXPECT_EQ(devices.size(), 2u);
  config.set_device_filters(0, "what");
  EXPECT_EQ(cluster.Session(0, config)->Extend(Line().def()).code(), absl::StatusCode::kInvalidArgument);
}

TEST(Cluster, SessionWaitsForATaskThatComesLater) {
  TestCluster cluster({.starts = false});
  cluster.Start("worker", 0);
  auto session = cluster.Session();
  std::thread later([&] { cluster.Start("ps", 0); });
  EXPECT_TRUE(session->Extend(Line().def()).ok());
  later.join();
}

TEST(Cluster, StoppingTheServerEndsTheWaitForATask) {
  TestCluster cluster({.starts = false});
  cluster.Start("worker", 0);
  auto session = cluster.RemoteSession();
  Status result;
  std::thread waiting([&] { result = session->Extend(Line().def()); });
  std::this_thread::yield();
  cluster.Stop("worker", 0);
  session->Close().IgnoreError();  // the server is gone
  waiting.join();
  EXPECT_FALSE(result.ok());
}

TEST(Cluster, PortInUseIsNamed) {
  TestCluster cluster({});
  auto second = TaskServer::Make({cluster.spec(), {"ps", 0}}).value();
  Status status = second->Start();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Text(status), HasSubstr(cluster.address("ps", 0)));
}

TEST(Cluster, PortZeroPicksOne) {
  auto server = TaskServer::Make({ClusterSpec::FromText("worker|127.0.0.1:0").value(), {"worker", 0}}).value();
  ASSERT_TRUE(server->Start().ok());
  EXPECT_NE(server->target(), "grpc://127.0.0.1:0");
  TestGraph graph;
  graph.Const("c", 5, "");
  auto session = NewGrpcSession(server->target(), {}).value();
  ASSERT_TRUE(session->Extend(graph.def()).ok());
  EXPECT_EQ(RunFor(*session, "c:0").value(), 5);
}

TEST(Cluster, ResetEmptiesTheDefaultContainers) {
  TestCluster cluster({});
  auto session = cluster.RemoteSession();
  ASSERT_TRUE(session->Extend(Line().def()).ok());
  ASSERT_TRUE(RunTarget(*session, "w/Assign").ok());
  ASSERT_TRUE(ResetMaster(cluster.worker(0).target(), {}).ok());
  EXPECT_EQ(RunFor(*session, "w/read:0").status().code(), absl::StatusCode::kAborted);
  auto again = cluster.RemoteSession();
  ASSERT_TRUE(again->Extend(Line().def()).ok());
  EXPECT_EQ(RunFor(*again, "w/read:0").status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace tandem
