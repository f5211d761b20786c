#include "runtime/plan.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>

#include "core/cancellation.h"
#include "runtime/local_rendezvous.h"
#include "runtime/plan_body.h"
#include "tandem/graph.h"

namespace {

std::atomic<int64_t> allocation_count{0};

}  // namespace

// Counts what the library takes from the heap. The test program's own operator new replaces the one of the whole process.
void* operator new(size_t bytes) {
  allocation_count.fetch_add(1, std::memory_order_relaxed);
  if (void* block = std::malloc(bytes == 0 ? 1 : bytes)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }

namespace tandem {
namespace {

using ::testing::Test;

// A graph, a device and a way to run it.
class PlanTest : public Test {
 protected:
  Output Op(const std::string& op, std::vector<Output> inputs, std::vector<NamedAttr> attrs = {}, const std::string& name = "") {
    return graph_.AddNode({.op = op, .name = name, .inputs = std::move(inputs), .attrs = std::move(attrs)}).output();
  }
  Output Const(const Tensor& value, const std::string& name = "") { return Op("Const", {}, {{"value", AttrValue(value)}, {"dtype", value.dtype()}}, name); }
  Output Placeholder(DataType dtype, const std::string& name) { return Op("Placeholder", {}, {{"dtype", dtype}}, name); }
  Output Variable(const std::string& name) { return Op("VariableV2", {}, {{"dtype", kFloat}, {"shape", Shape{}}}, name); }
  Output Recv(const std::string& edge) {
    return Op("_Recv", {}, {{"tensor_type", kFloat}, {"tensor_name", edge}, {"send_device", kDevice}, {"send_device_incarnation", 1}, {"recv_device", kDevice}}, "recv_" + edge);
  }
  Node* Send(const std::string& edge, Output value) {
    return graph_
        .AddNode({.op = "_Send",
                  .name = "send_" + edge,
                  .inputs = {value},
                  .attrs = {{"tensor_name", edge}, {"send_device", kDevice}, {"send_device_incarnation", 1}, {"recv_device", kDevice}}})
        .node;
  }

  std::unique_ptr<Plan> Make(std::vector<Output> feeds, std::vector<Output> fetches, std::vector<Node*> targets = {}) {
    PlanSpec spec;
    spec.feeds = std::move(feeds);
    spec.fetches = std::move(fetches);
    spec.targets = std::move(targets);
    spec.devices = devices_;
    spec.kernels = &kernels_;
    StatusOr<std::unique_ptr<Plan>> plan = Plan::Make(graph_, spec);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan.ok() ? *std::move(plan) : nullptr;
  }

  struct Result {
    Status status;
    std::vector<Tensor> values;
  };
  Result Run(Plan& plan, std::vector<Tensor> feeds = {}) {
    Cancellation cancellation;
    StepContext step = Context(&cancellation);
    Result result;
    result.status = plan.Run(feeds, &step, &result.values);
    return result;
  }
  StepContext Context(Cancellation* cancellation) {
    StepContext step;
    step.cancellation = cancellation;
    step.rendezvous = &rendezvous_;
    step.step_resources = &step_resources_;
    return step;
  }
  static float Value(const Tensor& tensor) { return tensor.scalar<float>(); }

  static constexpr char kDevice[] = "/job:localhost/replica:0/task:0/device:CPU:0";
  std::shared_ptr<DeviceSet> devices_ = DeviceSet::MakeCpus("/job:localhost/replica:0/task:0", "localhost", 1);
  Graph graph_;
  KernelCache kernels_;
  LocalRendezvous rendezvous_;
  ResourceManager step_resources_{"step"};
};

TEST_F(PlanTest, FetchesWhatIsComputedFromTheFeeds) {
  Output x = Placeholder(kFloat, "x");
  Output y = Op("Mul", {Op("AddV2", {x, Const(1.0f)}), x});
  auto plan = Make({x}, {y});
  EXPECT_EQ(Value(Run(*plan, {3.0f}).values[0]), 12.0f);
  EXPECT_EQ(Value(Run(*plan, {4.0f}).values[0]), 20.0f);
}

TEST_F(PlanTest, FedIntermediateIsNotComputed) {
  Output forgotten = Placeholder(kFloat, "forgotten");
  Output middle = Op("Square", {forgotten});
  auto plan = Make({middle}, {Op("Neg", {middle})});
  Result result = Run(*plan, {5.0f});
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(Value(result.values[0]), -5.0f);
}

TEST_F(PlanTest, UnfedPlaceholderIsNamed) {
  auto plan = Make({}, {Op("Neg", {Placeholder(kFloat, "forgotten")})});
  Status status = Run(*plan).status;
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("'forgotten'"), absl::string_view::npos) << status;
  EXPECT_NE(status.message().find("[[{{node forgotten}}]]"), absl::string_view::npos) << status;
}

TEST_F(PlanTest, UninitializedVariableIsNamed) {
  auto plan = Make({}, {Op("Neg", {Variable("w")})});
  Status status = Run(*plan).status;
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("Attempting to use uninitialized value w"), absl::string_view::npos) << status;
}

TEST_F(PlanTest, VariablesKeepTheirValueBetweenPlans) {
  Output w = Variable("w");
  auto assign = Make({}, {}, {Op("Assign", {w, Const(2.0f)}).node});
  auto add = Make({}, {}, {Op("AssignAdd", {w, Const(0.5f)}).node});
  auto read = Make({}, {w});
  ASSERT_TRUE(Run(*assign).status.ok());
  ASSERT_TRUE(Run(*add).status.ok());
  ASSERT_TRUE(Run(*add).status.ok());
  EXPECT_EQ(Value(Run(*read).values[0]), 3.0f);
}

TEST_F(PlanTest, WrongFeedsAreRefused) {
  Output x = Placeholder(kFloat, "x");
  auto plan = Make({x}, {Op("Neg", {x})});
  EXPECT_EQ(Run(*plan, {}).status.code(), absl::StatusCode::kInvalidArgument);
  Status status = Run(*plan, {int32_t{1}}).status;
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("x:0"), absl::string_view::npos) << status;
}

TEST_F(PlanTest, FeedAndFetchOfOneTensorIsRefused) {
  Output x = Placeholder(kFloat, "x");
  PlanSpec spec;
  spec.feeds = {x};
  spec.fetches = {x};
  spec.devices = devices_;
  EXPECT_EQ(Plan::Make(graph_, spec).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(PlanTest, ControlInputRunsFirst) {
  Output w = Variable("w");
  ASSERT_TRUE(Run(*Make({}, {}, {Op("Assign", {w, Const(1.0f)}).node})).status.ok());
  Output up = Op("AssignAdd", {w, Const(1.0f)});
  Output read = graph_.AddNode({.op = "Identity", .inputs = {w}, .control_inputs = {up}}).output();
  EXPECT_EQ(Value(Run(*Make({}, {read})).values[0]), 2.0f);
}

TEST_F(PlanTest, RecvWaitsForSendOfAnotherStep) {
  auto receiver = Make({}, {Op("Neg", {Recv("edge")})});
  Output x = Placeholder(kFloat, "x");
  auto sender = Make({x}, {}, {Send("edge", x)});
  Cancellation cancellation;
  StepContext step = Context(&cancellation);
  float got = 0;
  receiver->RunAsync({}, &step, [&](const Status& status, absl::Span<Tensor> values) {
    ASSERT_TRUE(status.ok()) << status;
    got = Value(values[0]);
  });
  EXPECT_EQ(got, 0);
  ASSERT_TRUE(Run(*sender, {7.0f}).status.ok());
  EXPECT_EQ(got, -7.0f);
}

// A sends to B, B answers, A answers, B answers: each part must go on although another of its nodes waits.
TEST_F(PlanTest, PingPongOfTwoPlansDoesNotBlock) {
  Output x = Placeholder(kFloat, "x");
  Output a_last = Recv("b2");
  auto a = Make({x}, {a_last}, {Send("a1", x), Send("a2", Op("Neg", {Recv("b1")}))});
  auto b = Make({}, {}, {Send("b1", Op("Square", {Recv("a1")})), Send("b2", Op("Square", {Recv("a2")}))});
  Cancellation cancellation;
  StepContext step = Context(&cancellation);
  Tensor feed = 3.0f;
  float got = 0;
  a->RunAsync({feed}, &step, [&](const Status& status, absl::Span<Tensor> values) {
    ASSERT_TRUE(status.ok()) << status;
    got = Value(values[0]);
  });
  ASSERT_TRUE(Run(*b).status.ok());
  EXPECT_EQ(got, 81.0f);
}

TEST_F(PlanTest, AnErrorEndsWhatWaits) {
  auto waiting = Make({}, {Recv("never")});
  auto failing = Make({}, {Op("Neg", {Placeholder(kFloat, "forgotten")})});
  Cancellation one, two;
  StepContext first = Context(&one), second = Context(&two);
  Status got;
  waiting->RunAsync({}, &first, [&](const Status& status, absl::Span<Tensor>) { got = status; });
  std::vector<Tensor> unused;
  EXPECT_FALSE(failing->Run({}, &second, &unused).ok());
  EXPECT_EQ(got.code(), absl::StatusCode::kInvalidArgument) << "the rendezvous of both is one: the cause travels through it";
}

TEST_F(PlanTest, CancellationEndsWhatWaits) {
  auto plan = Make({}, {Recv("never")});
  Cancellation cancellation;
  StepContext step = Context(&cancellation);
  Status got;
  plan->RunAsync({}, &step, [&](const Status& status, absl::Span<Tensor>) { got = status; });
  cancellation.Cancel(DeadlineExceeded("too late"));
  EXPECT_EQ(got.code(), absl::StatusCode::kDeadlineExceeded) << got;
}

TEST_F(PlanTest, UnknownDeviceNamesTheNode) {
  Node* node = Op("Neg", {Const(1.0f)}, {}, "far").node;
  node->assigned_device = "/job:ps/replica:0/task:0/device:CPU:0";
  PlanSpec spec;
  spec.fetches = {Output(node, 0)};
  spec.devices = devices_;
  Status status = Plan::Make(graph_, spec).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("far"), absl::string_view::npos) << status;
}

TEST_F(PlanTest, ManyThreadsRunOnePlan) {
  Output x = Placeholder(kFloat, "x");
  Output y = x;
  for (int i = 0; i < 20; ++i) y = Op("AddV2", {y, x});
  auto plan = Make({x}, {y});
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        Result result = Run(*plan, {static_cast<float>(t)});
        if (!result.status.ok() || Value(result.values[0]) != 21.0f * static_cast<float>(t)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(PlanTest, ElementWiseChainReusesOneBuffer) {
  Output x = Placeholder(kFloat, "x");
  Output first = Op("Square", {x});
  Output y = first;
  for (int i = 0; i < 10; ++i) y = Op("Neg", {y});
  auto plan = Make({x}, {y});
  Tensor feed(kFloat, Shape{1000});
  for (float& v : feed.mutable_values<float>()) v = 2.0f;
  Result result = Run(*plan, {feed});
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.values[0].data<float>()[999], 4.0f);
  EXPECT_EQ(feed.data<float>()[999], 2.0f) << "a feed must not be overwritten";
}

// The promise: a warm step takes nothing from the heap for a node, only a constant for the step.
class AllocationTest : public PlanTest {
 protected:
  int64_t PerStep(int node_count) {
    Output x = Placeholder(kFloat, "x");
    Output w = Op("Identity", {x});
    for (int i = 0; i < node_count; ++i) {
      switch (i % 4) {
        case 0:
          w = Op("AddV2", {w, x});
          break;
        case 1:
          w = Op("Mul", {w, Const(0.5f)});
          break;
        case 2:
          w = Op("Neg", {w});
          break;
        default:
          w = Op("Square", {w});
      }
    }
    const int64_t before_making = allocation_count.load();
    auto plan = Make({x}, {w});
    EXPECT_GT(allocation_count.load(), before_making + node_count) << "the count does not see the library's allocations";
    Cancellation cancellation;
    StepContext step = Context(&cancellation);
    std::vector<Tensor> feeds = {Tensor(kFloat, Shape{16})}, fetches;
    for (float& v : feeds[0].mutable_values<float>()) v = 0.5f;
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(plan->Run(feeds, &step, &fetches).ok());
    constexpr int kSteps = 100;
    const int64_t before = allocation_count.load();
    for (int i = 0; i < kSteps; ++i) {
      if (!plan->Run(feeds, &step, &fetches).ok()) return -1;
    }
    return (allocation_count.load() - before) / kSteps;
  }
};

TEST_F(AllocationTest, WarmStepAllocatesNothingPerNode) {
  constexpr int64_t kPerStep = 2;
  EXPECT_LE(PerStep(4), kPerStep);
  EXPECT_LE(PerStep(200), kPerStep);
}

}  // namespace
}  // namespace tandem
