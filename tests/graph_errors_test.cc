// A wrong graph, feed or fetch is answered with a code and a message that names it, in this process and on a cluster, and the same
// session serves the next good run.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <random>

#include "absl/strings/str_cat.h"
#include "proto/graph.pb.h"
#include "tandem/tandem.h"

namespace tandem {
namespace {

using absl::StatusCode;
using testing::HasSubstr;

// Below the range from which outgoing connections take their ports.
std::string FreeAddress() {
  static std::mt19937 random(std::random_device{}());
  while (true) {
    const int port = std::uniform_int_distribution<int>(15000, 31999)(random);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool is_free = bind(made, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    close(made);
    if (is_free) return absl::StrCat("127.0.0.1:", port);
  }
}

// A ps and a worker as objects of this process.
struct TwoTasks {
  TwoTasks() {
    const std::string ps_hosts = "--ps_hosts=" + FreeAddress(), worker_hosts = "--worker_hosts=" + FreeAddress();
    ps = std::make_unique<Server>(*ClusterConfig::Parse({"--job_name=ps", ps_hosts, worker_hosts}, ""));
    worker = std::make_unique<Server>(*ClusterConfig::Parse({"--job_name=worker", ps_hosts, worker_hosts}, ""));
  }
  std::unique_ptr<Server> ps, worker;
};

enum class Where { kInThisProcess, kOnACluster };

class GraphErrors : public testing::TestWithParam<Where> {
 protected:
  GraphErrors() {
    if (is_cluster()) {
      tasks_ = std::make_unique<TwoTasks>();
      on_ps_ = std::make_unique<DeviceScope>(g, "/job:ps/task:0");
    }
    x = Placeholder(g, kFloat, {2}, "x");
    twice = Add(x, x, "twice");
    session = std::make_unique<Session>(g, is_cluster() ? tasks_->worker->target() : "");
  }

  bool is_cluster() const { return GetParam() == Where::kOnACluster; }

  void ExpectGoodRun() {
    const std::vector<Tensor> out = session->Run({twice}, {{x, std::vector<float>{1, 2}}});
    EXPECT_FLOAT_EQ(out[0].values<float>()[1], 4);
  }

  // `body` throws an Error with `code` whose text holds all of `naming`; then the session still works.
  void ExpectError(const std::function<void()>& body, StatusCode code, const std::vector<std::string>& naming) {
    try {
      body();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      for (const std::string& text : naming) EXPECT_THAT(error.what(), HasSubstr(text));
    }
    ExpectGoodRun();
  }

  std::unique_ptr<TwoTasks> tasks_;
  Graph g;
  std::unique_ptr<DeviceScope> on_ps_;
  Output x, twice;
  std::unique_ptr<Session> session;
};

tensorflow::NodeDef* AddNodeDef(tensorflow::GraphDef* graph, const std::string& name, const std::string& op, const std::vector<std::string>& inputs = {}) {
  tensorflow::NodeDef* node = graph->add_node();
  node->set_name(name);
  node->set_op(op);
  for (const std::string& input : inputs) node->add_input(input);
  if (op == "Identity" || op == "Placeholder") (*node->mutable_attr())[op == "Identity" ? "T" : "dtype"].set_type(tensorflow::DT_FLOAT);
  return node;
}

TEST_P(GraphErrors, AnUnknownOpIsNamedWithItsNode) {
  tensorflow::GraphDef def;
  AddNodeDef(&def, "odd", "NoSuchOp");
  ExpectError([&] { g.ImportGraphDef(def.SerializeAsString()); }, StatusCode::kNotFound, {"NoSuchOp", "odd"});
  ExpectError([&] { g.AddNode({.op = "NoSuchOp"}); }, StatusCode::kNotFound, {"NoSuchOp"});
}

TEST_P(GraphErrors, BytesThatAreNoGraphAreRefused) {
  ExpectError([&] { g.ImportGraphDef("this is no graph"); }, StatusCode::kInvalidArgument, {"GraphDef"});
}

TEST_P(GraphErrors, AnInputThatDoesNotExistIsNamed) {
  const std::pair<const char*, const char*> inputs[] = {{"absent", "'absent'"}, {"^absent", "'^absent'"}, {"a:7", "output 7 of source node a"}, {"a:-1", "a:-1"}};
  for (const auto& [input, naming] : inputs) {
    SCOPED_TRACE(input);
    tensorflow::GraphDef def;
    AddNodeDef(&def, "a", "Placeholder");
    AddNodeDef(&def, "reader", "Identity", {input});
    ExpectError([&] { g.ImportGraphDef(def.SerializeAsString()); }, StatusCode::kInvalidArgument, {"reader", naming});
  }
}

TEST_P(GraphErrors, TwoNodesOfOneNameAreNamed) {
  tensorflow::GraphDef def;
  AddNodeDef(&def, "same", "Placeholder");
  AddNodeDef(&def, "same", "Placeholder");
  ExpectError([&] { g.ImportGraphDef(def.SerializeAsString()); }, StatusCode::kInvalidArgument, {"same"});
}

TEST_P(GraphErrors, ANodeThatWaitsForItselfIsRefused) {
  tensorflow::GraphDef def;
  AddNodeDef(&def, "one", "Identity", {"other"});
  AddNodeDef(&def, "other", "Identity", {"one"});
  ExpectError([&] { g.ImportGraphDef(def.SerializeAsString()); }, StatusCode::kInvalidArgument, {"2 nodes in a cycle"});
}

TEST_P(GraphErrors, AMissingAttrIsNamed) {
  tensorflow::GraphDef def;
  AddNodeDef(&def, "a", "Placeholder")->mutable_attr()->erase("dtype");
  ExpectError([&] { g.ImportGraphDef(def.SerializeAsString()); }, StatusCode::kNotFound, {"dtype", "node a"});  // the code of TensorFlow's master
}

TEST_P(GraphErrors, AFedValueOfTheWrongTypeIsNamed) {
  ExpectError([&] { session->Run({twice}, {{x, std::vector<std::string>{"1", "2"}}}); }, StatusCode::kInvalidArgument, {"x:0", "float", "string"});
  Output count = Placeholder(g, kInt32, {}, "count");
  ExpectError([&] { session->Run({count}, {{"count:0", 1.5f}}); }, StatusCode::kInvalidArgument, {"count:0", "int32", "float"});
  ExpectError([&] { session->Run({Identity(count)}, {{count, int64_t{1} << 31}}); }, StatusCode::kInvalidArgument, {"count:0", "int32", "int64"});
}

TEST_P(GraphErrors, AFedValueOfTheWrongShapeIsNamedWithBothShapes) {
  ExpectError([&] { session->Run({twice}, {{x, std::vector<float>{1, 2, 3}}}); }, StatusCode::kInvalidArgument, {"x:0", "[3]", "[2]"});
  ExpectError([&] { session->Run({twice}, {{x, 1.0f}}); }, StatusCode::kInvalidArgument, {"x:0", "[]", "[2]"});
}

TEST_P(GraphErrors, ANameThatIsNotInTheGraphIsNamed) {
  ExpectError([&] { session->Run({"nope:0"}); }, StatusCode::kNotFound, {"nope"});
  ExpectError([&] { session->Run({"nope"}); }, StatusCode::kNotFound, {"nope"});
  ExpectError([&] { session->Run({twice}, {{"nope:0", 1.0f}}); }, StatusCode::kNotFound, {"nope"});
  ExpectError([&] { session->Run({"twice:3"}); }, StatusCode::kInvalidArgument, {"twice"});
}

TEST_P(GraphErrors, ANodeOfAnotherGraphIsNamed) {
  Graph other;
  Output foreign = Placeholder(other, kFloat, {}, "foreign");
  ExpectError([&] { session->Run({foreign}); }, StatusCode::kInvalidArgument, {"foreign"});
  ExpectError([&] { session->Run({twice}, {{foreign, 1.0f}}); }, StatusCode::kInvalidArgument, {"foreign"});
}

TEST_P(GraphErrors, APlaceholderWithoutAValueIsNamed) {
  ExpectError([&] { session->Run({twice}); }, StatusCode::kInvalidArgument, {"'x'", "float"});
}

TEST_P(GraphErrors, AVariableWithoutAValueIsNamed) {
  for (bool use_resource : {true, false}) {
    SCOPED_TRACE(use_resource);
    Variable weight(g, Const(g, 1.0f), use_resource ? "weight" : "old_weight", {.use_resource = use_resource});
    ExpectError([&] { session->Run({weight}); }, StatusCode::kFailedPrecondition, {weight.name()});
    const StatusCode code = use_resource ? StatusCode::kNotFound : StatusCode::kFailedPrecondition;  // TensorFlow's
    ExpectError([&] { session->Run({weight.AssignAdd(Const(g, 1.0f))}); }, code, {weight.name()});
    session->Run({weight.initializer()});
    EXPECT_FLOAT_EQ(session->Run({weight})[0].scalar<float>(), 1);
  }
}

TEST_P(GraphErrors, ADeviceThatDoesNotExistIsNamedWithTheNode) {
  DeviceScope scope(g, "/job:ps/task:7");
  Output lost = Identity(x, "lost");
  ExpectError([&] { session->Run({lost}, {{x, std::vector<float>{1, 2}}}); }, StatusCode::kInvalidArgument, {"lost", "/job:ps", "/task:7"});
}

TEST_P(GraphErrors, AKernelThatFailsNamesItsNode) {
  Output rows = Gather(x, Const(g, int32_t{5}), 0, "rows");
  ExpectError([&] { session->Run({rows}, {{x, std::vector<float>{1, 2}}}); }, StatusCode::kInvalidArgument, {"rows", "5"});
}

INSTANTIATE_TEST_SUITE_P(Sessions, GraphErrors, testing::Values(Where::kInThisProcess, Where::kOnACluster),
                         [](const auto& info) { return info.param == Where::kOnACluster ? "OnACluster" : "InThisProcess"; });

}  // namespace
}  // namespace tandem
