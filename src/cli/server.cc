// tandem server: one task of a cluster, until it is told to end.
#include <pthread.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "cli/commands.h"
#include "cluster/server.h"
#include "core/log.h"

namespace tandem {
namespace {

constexpr int kFailed = 1, kWrongFlags = 2, kEndedBySignal = 128;

struct ServerOptions {
  std::string job_name, ps_hosts, worker_hosts, cluster, devices;
  int task_index = 0;
};

StatusOr<TaskConfig> ConfigFrom(const ServerOptions& options) {
  const char* tf_config = std::getenv("TF_CONFIG");
  if (options.job_name.empty() && options.cluster.empty() && tf_config != nullptr) return TaskConfigFromJson(tf_config);
  if (options.job_name.empty()) return InvalidArgument("--job_name is missing; see tandem server --help");
  if (!options.cluster.empty()) {
    TaskConfig config;
    ASSIGN_OR_RETURN(config.cluster, ClusterSpec::FromText(options.cluster));
    config.task = {options.job_name, options.task_index};
    for (const std::string& warning : config.cluster.DuplicateWarnings()) LogWarning(warning);
    return config;
  }
  if (options.ps_hosts.empty() && options.worker_hosts.empty()) {
    return InvalidArgument("--ps_hosts and --worker_hosts, or --cluster, are missing; see tandem server --help");
  }
  return TaskConfigFromFlags(options.job_name, options.task_index, options.ps_hosts, options.worker_hosts);
}

// "CPU:2": two devices, CPU:0 and CPU:1. Each has variables of its own.
StatusOr<int> CpuDevices(const std::string& text) {
  int count = 0;
  absl::string_view rest = text;
  if (text.empty()) return 1;
  if (!absl::ConsumePrefix(&rest, "CPU:") || !absl::SimpleAtoi(rest, &count)) return InvalidArgument("--devices=", text, " is not CPU:<number>");
  return count;
}

int Serve(const ServerOptions& options) {
  // Blocked before any thread starts, so that only the wait below gets them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  auto complain = [](const Status& status, int code) {
    std::fprintf(stderr, "tandem server: %s\n", std::string(status.message()).c_str());
    return code;
  };
  StatusOr<TaskConfig> config = ConfigFrom(options);
  if (!config.ok()) return complain(config.status(), kWrongFlags);
  if (config->is_evaluator) return complain(InvalidArgument("an evaluator is not part of the cluster and runs no server"), kWrongFlags);
  SetLogTask(absl::StrCat(config->task.job, "/", config->task.index));
  StatusOr<int> cpus = CpuDevices(options.devices);
  if (!cpus.ok()) return complain(cpus.status(), kWrongFlags);
  StatusOr<std::unique_ptr<TaskServer>> server = TaskServer::Make({config->cluster, config->task, *cpus});
  if (!server.ok()) return complain(server.status(), kWrongFlags);
  Status started = (*server)->Start();
  if (!started.ok()) return complain(started, kFailed);
  int signal = 0;
  sigwait(&signals, &signal);
  LogInfo("ends on ", signal == SIGTERM ? "SIGTERM" : "SIGINT");
  (*server)->Stop();
  return kEndedBySignal + signal;
}

}  // namespace

void AddServerCommand(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<ServerOptions>();
  CLI::App* command = app.add_subcommand("server", "Run one task of a cluster until SIGTERM");
  command->add_option("--job_name", options->job_name, "The job of this task: ps, worker …; without it TF_CONFIG is read");
  command->add_option("--task_index", options->task_index, "Its index in the job, from 0");
  command->add_option("--ps_hosts", options->ps_hosts, "host:port,host:port of the ps tasks");
  command->add_option("--worker_hosts", options->worker_hosts, "host:port,host:port of the worker tasks");
  command->add_option("--cluster", options->cluster, "All jobs, instead of the hosts: chief|h:p;ps|h:p,h:p;worker|h:p");
  command->add_option("--devices", options->devices, "CPU:2 gives the task two devices, each with variables of its own");
  command->callback([options, exit_code] { *exit_code = Serve(*options); });
}

}  // namespace tandem
