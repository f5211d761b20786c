// For tests: a cluster of objects in this process, on free ports, and graphs in a line per node.
#pragma once

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cluster/grpc_session.h"
#include "cluster/server.h"
#include "proto/config.pb.h"
#include "proto/graph.pb.h"
#include "runtime/session_backend.h"

namespace tandem {

inline std::vector<int> FreePorts(int count) {
  std::vector<int> sockets, ports;
  for (int i = 0; i < count; ++i) {
    int made = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(made, reinterpret_cast<sockaddr*>(&address), size);
    getsockname(made, reinterpret_cast<sockaddr*>(&address), &size);
    ports.push_back(ntohs(address.sin_port));
    sockets.push_back(made);
  }
  for (int made : sockets) close(made);
  return ports;
}

class TestCluster {
 public:
  struct Size {
    int ps = 1, workers = 1;
    bool use_phases = true;
    bool starts = true;
  };

  explicit TestCluster(Size size) : size_(size) {
    const std::vector<int> ports = FreePorts(size.ps + size.workers);
    std::string hosts[2];
    for (int i = 0; i < size.ps + size.workers; ++i) {
      std::string& list = hosts[i < size.ps ? 0 : 1];
      absl::StrAppend(&list, list.empty() ? "" : ",", "127.0.0.1:", ports[i]);
    }
    spec_ = ClusterSpec::FromHosts({{"ps", hosts[0]}, {"worker", hosts[1]}}).value();
    for (const TaskName& task : spec_.tasks()) {
      if (size.starts) Start(task.job, task.index);
    }
  }

  void Start(const std::string& job, int index) {
    ServerConfig config;
    config.cluster = spec_;
    config.task = {job, index};
    config.use_phases = size_.use_phases;
    std::unique_ptr<TaskServer> server = TaskServer::Make(config).value();
    Status status = server->Start();
    ASSERT_TRUE(status.ok()) << status;
    servers_[absl::StrCat(job, index)] = std::move(server);
  }
  void Stop(const std::string& job, int index) { servers_.erase(absl::StrCat(job, index)); }
  void Restart(const std::string& job, int index) {
    Stop(job, index);
    Start(job, index);
  }

  const ClusterSpec& spec() const { return spec_; }
  TaskServer& worker(int index) { return *servers_.at(absl::StrCat("worker", index)); }
  std::string address(const std::string& job, int index) const { return spec_.Address({job, index}).value(); }

  std::unique_ptr<SessionBackend> Session(int worker_index = 0, const tensorflow::ConfigProto& config = {}) {
    return worker(worker_index).NewSession(config.SerializeAsString()).value();
  }
  std::unique_ptr<SessionBackend> RemoteSession(int worker_index = 0, const tensorflow::ConfigProto& config = {}) {
    return NewGrpcSession(worker(worker_index).target(), config).value();
  }

 private:
  const Size size_;
  ClusterSpec spec_;
  std::map<std::string, std::unique_ptr<TaskServer>> servers_;
};

constexpr char kPs[] = "/job:ps/task:0";
constexpr char kWorker[] = "/job:worker/task:0";

// Adds nodes by their inputs and attrs (in the text form of AttrValue); T is float unless it is given.
class TestGraph {
 public:
  using Attrs = std::map<std::string, std::string>;

  TestGraph& Add(const std::string& name, const std::string& op, const std::vector<std::string>& inputs, const std::string& device, const Attrs& attrs = {}) {
    auto* node = def_.add_node();
    node->set_name(name);
    node->set_op(op);
    node->set_device(device);
    for (const std::string& input : inputs) node->add_input(input);
    for (const auto& [key, text] : attrs) EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &(*node->mutable_attr())[key])) << text;
    return *this;
  }
  TestGraph& Const(const std::string& name, float value, const std::string& device) {
    return Add(name, "Const", {}, device,
               {{"dtype", "type: DT_FLOAT"}, {"value", absl::StrCat("tensor { dtype: DT_FLOAT tensor_shape {} float_val: ", value, " }")}});
  }
  TestGraph& Placeholder(const std::string& name, const std::string& device) { return Add(name, "Placeholder", {}, device, {{"dtype", "type: DT_FLOAT"}}); }
  // "<name>", its initialiser "<name>/Assign", and "<name>/read".
  TestGraph& Variable(const std::string& name, float initial, const std::string& device) {
    Add(name, "VariableV2", {}, device, {{"dtype", "type: DT_FLOAT"}, {"shape", "shape {}"}});
    Const(name + "/initial", initial, device);
    Add(name + "/Assign", "Assign", {name, name + "/initial"}, device, {{"T", "type: DT_FLOAT"}});
    return Add(name + "/read", "Identity", {name}, device, {{"T", "type: DT_FLOAT"}});
  }
  TestGraph& Binary(const std::string& name, const std::string& op, const std::string& a, const std::string& b, const std::string& device) {
    return Add(name, op, {a, b}, device, {{"T", "type: DT_FLOAT"}});
  }
  const tensorflow::GraphDef& def() const { return def_; }

 private:
  tensorflow::GraphDef def_;
};

// A scalar float fetch of one run.
inline StatusOr<float> RunFor(SessionBackend& session, const std::string& fetch, std::vector<std::pair<std::string, Tensor>> feeds = {}, int64_t timeout_ms = 0) {
  RunRequest request;
  request.feeds = std::move(feeds);
  request.fetches = {fetch};
  tensorflow::RunOptions options;
  options.set_timeout_in_ms(timeout_ms);
  request.options = &options;
  std::vector<Tensor> outputs;
  RETURN_IF_ERROR(session.Run(request, &outputs));
  return outputs.at(0).scalar<float>();
}

inline Status RunTarget(SessionBackend& session, const std::string& target) {
  RunRequest request;
  request.targets = {target};
  std::vector<Tensor> outputs;
  return session.Run(request, &outputs);
}

}  // namespace tandem
