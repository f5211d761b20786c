// Steps per second of asynchronous training: one ps and some workers, each a process of its own, linear regression with scalars.
//
//   cluster_steps [workers=2] [seconds=3] [phases=1] [variables=2]
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "cluster/server.h"
#include "core/log.h"
#include "proto/config.pb.h"
#include "proto/graph.pb.h"
#include "runtime/session_backend.h"
#include "tandem/device_setter.h"
#include "tandem/ops.h"
#include "tandem/optimizer.h"
#include "tandem/variable.h"

namespace {

namespace td = tandem;
using Clock = std::chrono::steady_clock;

struct Settings {
  int workers = 2;
  double seconds = 3;
  bool use_phases = true;
  int variables = 2;
};

td::ClusterSpec Spec(int workers, int first_port) {
  std::string text = "ps|127.0.0.1:" + std::to_string(first_port) + ";worker|";
  for (int i = 0; i < workers; ++i) text += (i == 0 ? "" : ",") + std::string("127.0.0.1:") + std::to_string(first_port + 1 + i);
  return td::ClusterSpec::FromText(text).value();
}

int ServePs(const td::ClusterSpec& spec) {
  auto server = td::TaskServer::Make({spec, {"ps", 0}}).value();
  if (!server->Start().ok()) return 1;
  server->Join();
  return 0;
}

// Writes "steps" to `out`.
int Train(const td::ClusterSpec& spec, int index, const Settings& settings, int out) {
  auto server = td::TaskServer::Make({.cluster = spec, .task = {"worker", index}, .use_phases = settings.use_phases}).value();
  if (!server->Start().ok()) return 1;
  td::Graph graph;
  std::vector<td::Operation> initializers;
  td::Operation train;
  td::Output loss;
  {
    td::DeviceScope device(graph, td::ReplicaDeviceSetter(1, "/job:ps", "/job:worker/task:" + std::to_string(index)));
    td::Output x = td::Const(graph, td::Tensor(1.5f)), y = td::Const(graph, td::Tensor(4.0f));
    td::Output z = td::Const(graph, td::Tensor(0.0f));
    for (int i = 0; i < settings.variables; ++i) {
      td::Variable w(graph, td::Zeros(graph, {}), "w" + std::to_string(i), {.use_resource = false});
      initializers.push_back(w.initializer());
      z = z + x * w.value();
    }
    td::Variable step(graph, td::Const(graph, td::Tensor(int64_t{0})), "global_step", {.trainable = false, .use_resource = false});
    initializers.push_back(step.initializer());
    loss = td::Square(y - z);
    td::GradientDescent optimizer(0.01f);
    train = optimizer.Minimize(loss, step);
  }
  tensorflow::GraphDef def;
  def.ParseFromString(graph.ToGraphDef());
  std::unique_ptr<td::SessionBackend> session = server->NewSession().value();
  td::Status status = session->Extend(def);
  std::vector<td::Tensor> outputs;
  td::RunRequest init;
  for (const td::Operation& initializer : initializers) init.targets.push_back(initializer.name());
  if (status.ok()) status = session->Run(init, &outputs);
  td::RunRequest request;
  request.fetches = {loss.name()};
  request.targets = {train.name()};
  for (int i = 0; i < 200 && status.ok(); ++i) status = session->Run(request, &outputs);
  int64_t steps = 0;
  const auto start = Clock::now();
  while (status.ok() && std::chrono::duration<double>(Clock::now() - start).count() < settings.seconds) {
    status = session->Run(request, &outputs);
    ++steps;
  }
  if (!status.ok()) std::fprintf(stderr, "worker %d: %s\n", index, status.ToString().c_str());
  const bool is_written = write(out, &steps, sizeof steps) == sizeof steps;
  session->Close().IgnoreError();
  server->Stop();
  return is_written && status.ok() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  if (argc > 1) settings.workers = std::atoi(argv[1]);
  if (argc > 2) settings.seconds = std::atof(argv[2]);
  if (argc > 3) settings.use_phases = std::atoi(argv[3]) != 0;
  if (argc > 4) settings.variables = std::atoi(argv[4]);
  td::SetLogLevel(td::LogLevel::kWarning);
  // Forked before anything of gRPC starts.
  const td::ClusterSpec spec = Spec(settings.workers, 20000 + getpid() % 10000);
  pid_t ps = fork();
  if (ps == 0) _exit(ServePs(spec));
  int pipe_ends[2];
  if (pipe(pipe_ends) != 0) return 1;
  std::vector<pid_t> workers;
  for (int i = 0; i < settings.workers; ++i) {
    pid_t worker = fork();
    if (worker == 0) _exit(Train(spec, i, settings, pipe_ends[1]));
    workers.push_back(worker);
  }
  int64_t total = 0;
  int failed = 0;
  for (pid_t worker : workers) {
    int status = 0;
    waitpid(worker, &status, 0);
    if (status != 0) {
      ++failed;
      continue;
    }
    int64_t steps = 0;
    if (read(pipe_ends[0], &steps, sizeof steps) == sizeof steps) total += steps;
  }
  kill(ps, SIGKILL);
  waitpid(ps, nullptr, 0);
  std::printf("%d workers, %d variables, %s: %.0f steps/s\n", settings.workers, settings.variables, settings.use_phases ? "phases" : "RecvTensor",
              static_cast<double>(total) / settings.seconds);
  return failed;
}
