// Training on a cluster whose tasks are objects of this process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <thread>

#include "absl/strings/str_join.h"
#include "client/local_tasks.h"
#include "cluster/server.h"
#include "tandem/device_setter.h"
#include "tandem/error.h"
#include "tandem/ops.h"
#include "tandem/optimizer.h"
#include "tandem/supervisor.h"
#include "train/test_directory.h"

namespace tandem {
namespace {

// Some ps tasks and a worker on free ports.
class Cluster {
 public:
  explicit Cluster(int ps_count = 1) {
    for (int i = 0; i < ps_count; ++i) {
      // A task that listens on port 0 needs to know no other address.
      ps_.push_back(Serve({"ps", i}, std::vector<std::string>(ps_count, "localhost:0"), "localhost:1"));
      addresses_.push_back(ps_.back()->target().substr(strlen("grpc://")));
    }
    worker_ = Serve({"worker", 0}, addresses_, "localhost:0");
    RegisterLocalTask(worker_->target(), {.task = {"worker", 0}, .server = worker_.get()});
  }
  ~Cluster() {
    UnregisterLocalTask(worker_->target());
    worker_->Stop();
    for (auto& ps : ps_) {
      if (ps != nullptr) ps->Stop();
    }
  }
  std::string target() const { return worker_->target(); }
  void StopPs() {
    ps_[0]->Stop();
    ps_[0].reset();
  }
  void StartPs() { ps_[0] = Serve({"ps", 0}, addresses_, "localhost:1"); }

 private:
  static std::unique_ptr<TaskServer> Serve(const TaskName& task, const std::vector<std::string>& ps, const std::string& worker) {
    auto cluster = ClusterSpec::FromHosts({{"ps", absl::StrJoin(ps, ",")}, {"worker", worker}});
    auto server = TaskServer::Make({.cluster = *cluster, .task = task});
    EXPECT_TRUE(server.ok()) << server.status();
    Status started = (*server)->Start();
    EXPECT_TRUE(started.ok()) << started;
    return *std::move(server);
  }

  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<TaskServer>> ps_;
  std::unique_ptr<TaskServer> worker_;
};

struct Toy {
  explicit Toy(int ps_count = 1) : device(g, ReplicaDeviceSetter(ps_count, "/job:ps", "/job:worker/task:0")), w(g, Const(g, 0.0f), "w"), step(GlobalStep(g)), train(GradientDescent(0.1f).Minimize(Square(w - 1.0) * 0.5, step)) {}
  Graph g;
  DeviceScope device;
  Variable w, step;
  Operation train;
};

TEST(Training, OnAClusterGivesTheSameNumbers) {
  Cluster cluster;
  Toy toy;
  Supervisor sv(toy.g);
  Session& session = sv.ManagedSession(cluster.target());
  for (int i = 0; i < 20; ++i) session.Run({toy.train});
  EXPECT_NEAR(session.Run({toy.w})[0].scalar<float>(), 0.87842335, 1e-5);
}

TEST(Training, GoesOnFromTheCheckpointAfterThePsWasRestarted) {
  Cluster cluster;
  TestDirectory dir;
  Toy toy;
  Supervisor sv(toy.g, {.logdir = dir.path(), .save_model_secs = 0});
  Session& session = sv.ManagedSession(cluster.target());
  Callable train = session.MakeCallable({}, {toy.step.value()}, {toy.train});
  for (int i = 0; i < 10; ++i) train.Run();
  sv.SaveNow();
  for (int i = 0; i < 5; ++i) session.Run({toy.train});
  cluster.StopPs();
  std::thread restart([&] { cluster.StartPs(); });
  session.Run({toy.train});  // waits, restores step 10, and runs
  restart.join();
  EXPECT_EQ(session.Run({toy.step})[0].scalar<int64_t>(), 11);
  train.Run();
  EXPECT_EQ(session.Run({toy.step})[0].scalar<int64_t>(), 12);
  EXPECT_NEAR(session.Run({toy.w})[0].scalar<float>(), 1 - std::pow(0.9, 12), 1e-5);
}

TEST(Training, GivesUpWaitingForAPs) {
  Cluster cluster;
  cluster.StopPs();
  Toy toy;
  Supervisor sv(toy.g, {.max_wait_secs = 0.3});
  try {
    sv.ManagedSession(cluster.target());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kDeadlineExceeded);
  }
}

TEST(Training, SavesInShardsOfWhichEachPsWritesItsOwn) {
  TestDirectory dir;
  std::string path;
  {
    Cluster cluster(2);
    Toy toy(2);
    Saver saver(toy.g, {.sharded = true});
    Supervisor sv(toy.g, {.logdir = dir.path(), .saver = &saver, .save_model_secs = 0});
    Session& session = sv.ManagedSession(cluster.target());
    for (int i = 0; i < 10; ++i) session.Run({toy.train});
    path = sv.SaveNow();
  }
  EXPECT_TRUE(std::filesystem::exists(path + ".data-00000-of-00002"));
  EXPECT_TRUE(std::filesystem::exists(path + ".data-00001-of-00002"));
  Cluster cluster(2);
  Toy toy(2);
  Saver saver(toy.g, {.sharded = true});
  Supervisor sv(toy.g, {.logdir = dir.path(), .saver = &saver, .save_model_secs = 0});
  std::vector<Tensor> out = sv.ManagedSession(cluster.target()).Run({toy.w, toy.step});
  EXPECT_NEAR(out[0].scalar<float>(), 0.65132156, 1e-5);
  EXPECT_EQ(out[1].scalar<int64_t>(), 10);
}

}  // namespace
}  // namespace tandem
