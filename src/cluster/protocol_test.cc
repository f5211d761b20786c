// Single calls to a worker and a master, most of them wrong; what is expected is what TensorFlow was recorded to answer.
#include <gmock/gmock.h>
#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include <random>

#include "absl/synchronization/notification.h"

#include "cluster/message_buffer.h"
#include "cluster/rpc_client.h"
#include "cluster/rpc_queue.h"
#include "cluster/test_cluster.h"
#include "proto/master.pb.h"
#include "proto/worker.pb.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ProtocolTest : public testing::Test {
 protected:
  ProtocolTest() : cluster_({}), threads_(&queue_, 4), client_(&queue_) {
    tensorflow::GetStatusResponse status;
    EXPECT_TRUE(Call(RpcMethod::kGetStatus, tensorflow::GetStatusRequest(), &status).ok());
    incarnation_ = status.device_attributes(0).incarnation();
    tensorflow::CreateWorkerSessionRequest session;
    session.set_session_handle("s1");
    tensorflow::CreateWorkerSessionResponse made;
    EXPECT_TRUE(Call(RpcMethod::kCreateWorkerSession, session, &made).ok());
  }
  ~ProtocolTest() override {
    client_.Stop();
    threads_.Stop();
  }

  RpcReply CallBytes(RpcMethod method, const grpc::ByteBuffer& request, const std::string& job = "ps") {
    return client_.Channel(cluster_.address(job, 0))->CallAndWait(method, request, {.deadline_ms = 10000});
  }
  Status Call(RpcMethod method, const google::protobuf::MessageLite& request, google::protobuf::MessageLite* response, const std::string& job = "ps") {
    RpcReply reply = CallBytes(method, SerializeMessage(request), job);
    return reply.status.ok() ? ParseMessage(reply.response, response) : reply.status;
  }

  std::string Key(absl::string_view name, absl::string_view receiver = "ps") const {
    return absl::StrCat("/job:ps/replica:0/task:0/device:CPU:0;", absl::Hex(incarnation_, absl::kZeroPad16), ";/job:", receiver,
                        "/replica:0/task:0/device:CPU:0;", name, ";0:0");
  }
  TestGraph::Attrs Transfer(const std::string& type_attr, const std::string& name, const std::string& receiver, bool is_client_terminated) const {
    return {{type_attr, "type: DT_FLOAT"},
            {"tensor_name", absl::StrCat("s: '", name, "'")},
            {"send_device", "s: '/job:ps/replica:0/task:0/device:CPU:0'"},
            {"recv_device", absl::StrCat("s: '/job:", receiver, "/replica:0/task:0/device:CPU:0'")},
            {"send_device_incarnation", absl::StrCat("i: ", static_cast<int64_t>(incarnation_))},
            {"client_terminated", is_client_terminated ? "b: true" : "b: false"}};
  }
  // m = -x, given to the caller and to the worker task.
  tensorflow::RegisterGraphRequest NegGraph(const std::string& session = "s1") const {
    const std::string device = "/job:ps/replica:0/task:0/device:CPU:0";
    TestGraph graph;
    graph.Add("r", "_Recv", {}, device, Transfer("tensor_type", "x:0", "ps", true)).Add("m", "Neg", {"r"}, device, {{"T", "type: DT_FLOAT"}});
    graph.Add("s", "_Send", {"m"}, device, Transfer("T", "m:0", "ps", true)).Add("far", "_Send", {"m"}, device, Transfer("T", "edge_1_m", "worker", false));
    tensorflow::RegisterGraphRequest request;
    request.set_session_handle(session);
    *request.mutable_graph_def() = graph.def();
    request.set_create_worker_session_called(true);
    return request;
  }
  std::string Register() {
    tensorflow::RegisterGraphResponse response;
    Status status = Call(RpcMethod::kRegisterGraph, NegGraph(), &response);
    EXPECT_TRUE(status.ok()) << status;
    return response.graph_handle();
  }
  tensorflow::RunGraphRequest Run(const std::string& graph, int64_t step_id, bool is_fed = true) const {
    tensorflow::RunGraphRequest request;
    request.set_graph_handle(graph);
    request.set_step_id(step_id);
    request.set_session_handle("s1");
    request.set_store_errors_in_response_body(true);
    request.set_create_worker_session_called(true);
    request.set_request_id(1000 + step_id);
    request.add_recv_key(Key("m:0"));
    if (!is_fed) return request;
    auto* send = request.add_send();
    send->set_name(Key("x:0"));
    send->mutable_tensor()->set_dtype(tensorflow::DT_FLOAT);
    send->mutable_tensor()->add_float_val(2);
    return request;
  }
  tensorflow::RecvTensorRequest Recv(int64_t step_id, const std::string& key, int64_t request_id) const {
    tensorflow::RecvTensorRequest request;
    request.set_step_id(step_id);
    request.set_rendezvous_key(key);
    request.set_request_id(request_id);
    return request;
  }

  TestCluster cluster_;
  grpc::CompletionQueue queue_;
  RpcThreads threads_;
  RpcClient client_;
  uint64_t incarnation_ = 0;
};

TEST_F(ProtocolTest, RunGraphTakesFeedsAndGivesResults) {
  tensorflow::RunGraphResponse response;
  ASSERT_TRUE(Call(RpcMethod::kRunGraph, Run(Register(), 1), &response).ok());
  ASSERT_EQ(response.recv_size(), 1) << response.status_error_message();
  EXPECT_EQ(response.recv(0).name(), Key("m:0"));
}

TEST_F(ProtocolTest, RecvTensorMayComeBeforeRunGraph) {
  const std::string graph = Register();
  absl::Notification is_there;
  RpcReply early;
  client_.Channel(cluster_.address("ps", 0))
      ->Call(RpcMethod::kRecvTensor, SerializeMessage(Recv(2, Key("edge_1_m", "worker"), 5)), {}, [&](RpcReply reply) {
        early = std::move(reply);
        is_there.Notify();
      });
  tensorflow::RunGraphResponse response;
  ASSERT_TRUE(Call(RpcMethod::kRunGraph, Run(graph, 2), &response).ok());
  is_there.WaitForNotification();
  tensorflow::RecvTensorResponse tensor;
  ASSERT_TRUE(early.status.ok() && ParseMessage(early.response, &tensor).ok()) << early.status;
  EXPECT_EQ(tensor.tensor().tensor_content(), std::string("\0\0\0\xc0", 4));
}

TEST_F(ProtocolTest, UnknownHandlesAreAborted) {
  tensorflow::RegisterGraphResponse registered;
  EXPECT_EQ(Call(RpcMethod::kRegisterGraph, NegGraph("zz"), &registered).message(),
            "Session handle is not found: zz. Possibly this worker (\"/job:ps/replica:0/task:0\") just restarted.");
  tensorflow::RunGraphResponse response;
  ASSERT_TRUE(Call(RpcMethod::kRunGraph, Run("0000000000009999", 3), &response).ok());
  EXPECT_EQ(response.status_code(), tensorflow::error::ABORTED);
  EXPECT_EQ(response.status_error_message(), "Graph handle is not found: 0000000000009999");
  tensorflow::DeregisterGraphRequest deregister;
  deregister.set_session_handle("s1");
  deregister.set_graph_handle("77");
  tensorflow::DeregisterGraphResponse deregistered;
  EXPECT_EQ(Call(RpcMethod::kDeregisterGraph, deregister, &deregistered).message(), "Graph handle is not found: 77. Possibly, this worker just restarted.");
}

TEST_F(ProtocolTest, SameRequestTwiceIsAborted) {
  const std::string graph = Register();
  tensorflow::RunGraphResponse response;
  ASSERT_TRUE(Call(RpcMethod::kRunGraph, Run(graph, 4), &response).ok());
  ASSERT_TRUE(Call(RpcMethod::kRunGraph, Run(graph, 4), &response).ok());
  EXPECT_EQ(response.status_code(), tensorflow::error::ABORTED);
  EXPECT_THAT(response.status_error_message(), StartsWith("The same RunGraph (Worker) request was received twice. "));
}

TEST_F(ProtocolTest, WrongRendezvousKeysAreErrors) {
  tensorflow::RecvTensorResponse response;
  EXPECT_EQ(Call(RpcMethod::kRecvTensor, Recv(5, "a;b;c;d", 11), &response).message(), "Invalid  rendezvous key: a;b;c;d");
  Status other = Call(RpcMethod::kRecvTensor,
                      Recv(5, "/job:ps/replica:0/task:0/device:CPU:0;0000000000000005;/job:worker/replica:0/task:0/device:CPU:0;e;0:0", 12), &response);
  EXPECT_EQ(other.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(other.message()), StartsWith("RecvTensor expects a different device incarnation: 5 vs. "));
  EXPECT_TRUE(other.GetPayload("type.googleapis.com/tensorflow.distributed_runtime.WorkerPossiblyRestarted").has_value());
}

TEST_F(ProtocolTest, CleanupEndsARunThatWaitsForItsFeed) {
  const std::string graph = Register();
  absl::Notification is_there;
  RpcReply run;
  client_.Channel(cluster_.address("ps", 0))->Call(RpcMethod::kRunGraph, SerializeMessage(Run(graph, 6, /*is_fed=*/false)), {}, [&](RpcReply reply) {
    run = std::move(reply);
    is_there.Notify();
  });
  tensorflow::CleanupGraphRequest cleanup;
  cleanup.set_step_id(6);
  tensorflow::CleanupGraphResponse cleaned;
  // The calls may overtake each other; a cleanup of a step that has not begun changes nothing.
  while (!is_there.HasBeenNotified()) ASSERT_TRUE(Call(RpcMethod::kCleanupGraph, cleanup, &cleaned).ok());
  tensorflow::RunGraphResponse response;
  ASSERT_TRUE(run.status.ok() && ParseMessage(run.response, &response).ok()) << run.status;
  EXPECT_EQ(response.status_code(), tensorflow::error::ABORTED);
  EXPECT_THAT(response.status_error_message(), HasSubstr("Cleanup 6"));
}

TEST_F(ProtocolTest, UnsupportedCallsSayTheirName) {
  EXPECT_EQ(CallBytes(RpcMethod::kHello, WireWriter().Finish()).status, OkStatus());
  tensorflow::LoggingResponse logging;
  EXPECT_TRUE(Call(RpcMethod::kLogging, tensorflow::LoggingRequest(), &logging).ok());
}

TEST_F(ProtocolTest, MasterRefusesUnknownSessionsAsTensorFlowDoes) {
  tensorflow::CloseSessionRequest close;
  close.set_session_handle("nosuch");
  tensorflow::CloseSessionResponse closed;
  EXPECT_EQ(Call(RpcMethod::kCloseSession, close, &closed, "worker").message(), "Session nosuch is not found. Possibly, this master has restarted.");
  tensorflow::RunStepRequest run;
  run.set_session_handle("nosuch");
  run.set_store_errors_in_response_body(true);
  tensorflow::RunStepResponse response;
  ASSERT_TRUE(Call(RpcMethod::kRunStep, run, &response, "worker").ok());
  EXPECT_EQ(response.status_code(), tensorflow::error::ABORTED);
  EXPECT_EQ(response.status_error_message(), "Session nosuch is not found.");
}

TEST_F(ProtocolTest, HostileBytesToEveryMethodLeaveTheServersAlive) {
  std::mt19937 random(3);
  google::protobuf::SetLogHandler(nullptr);  // it would report each broken string
  const std::string good = Run("0000000000000001", 9).SerializeAsString();
  for (int method = 0; method < static_cast<int>(RpcMethod::kCount); ++method) {
    if (static_cast<RpcMethod>(method) == RpcMethod::kCreateSession) continue;  // an empty one is legal, and makes a session
    for (int turn = 0; turn < 20; ++turn) {
      std::string bytes = good.substr(0, random() % good.size());
      for (int i = random() % 5; i > 0 && !bytes.empty(); --i) bytes[random() % bytes.size()] = static_cast<char>(random());
      grpc::Slice slice(bytes);
      for (const char* job : {"ps", "worker"}) {
        client_.Channel(cluster_.address(job, 0))->CallAndWait(static_cast<RpcMethod>(method), grpc::ByteBuffer(&slice, 1), {.deadline_ms = 300});
      }
    }
  }
  tensorflow::RunGraphResponse response;
  tensorflow::CreateWorkerSessionRequest session;
  session.set_session_handle("s1");
  tensorflow::CreateWorkerSessionResponse made;
  ASSERT_TRUE(Call(RpcMethod::kCreateWorkerSession, session, &made).ok());
  ASSERT_TRUE(Call(RpcMethod::kRunGraph, Run(Register(), 10), &response).ok());
  EXPECT_EQ(response.recv_size(), 1);
}

}  // namespace
}  // namespace tandem
