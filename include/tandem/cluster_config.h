// Where this process stands in a job: its cluster and its own task.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tandem {

struct TaskConfig;

// A flag of the program itself, beside those of the job.
struct ProgramFlag {
  std::string name;           // without dashes
  std::string default_value;
  std::string help;
};

// A value. Without a cluster everything runs in this process, which is its own chief.
class ClusterConfig {
 public:
  ClusterConfig();

  // Reads the command line, for main(). The job's flags are
  //   --job_name=ps|worker  --task_index=N  --ps_hosts=host:port,…  --worker_hosts=host:port,…
  //   --wait_s=N            how long to wait for other tasks before giving up; 0, the default, for ever
  // and, without those of the cluster, the environment variable TF_CONFIG; without either there is no cluster.
  // Flags may be written --name=value or --name value, with one dash or two. `flags` are the program's own; flag() has their values.
  // Anything else on the command line, or a wrong value, ends the process: one line on standard error, exit code 2.
  // --help lists all flags and ends it with 0.
  // Also makes an Error that nobody catches end the process with one line and exit code 1.
  static ClusterConfig FromArgs(int argc, char** argv, const std::vector<ProgramFlag>& flags = {});
  // The same with a status: of words after the program's name, and the value of TF_CONFIG ("" if it is not set).
  static absl::StatusOr<ClusterConfig> Parse(const std::vector<std::string>& words, absl::string_view tf_config, const std::vector<ProgramFlag>& flags = {});

  bool has_cluster() const;
  bool is_ps() const;
  bool is_chief() const;
  const std::string& job_name() const;  // "worker" without a cluster
  int task_index() const;
  int ps_count() const;
  int worker_count() const;             // with a chief of its own job; 1 without a cluster
  double wait_s() const { return wait_s_; }

  // The program's own flags: as text, or as numbers. A value that is no number ends the process like a wrong flag.
  const std::string& flag(const std::string& name) const;
  int64_t int_flag(const std::string& name) const;
  double float_flag(const std::string& name) const;

  const TaskConfig& task() const { return *task_; }

 private:
  std::shared_ptr<const TaskConfig> task_;
  std::map<std::string, std::string> flags_;
  double wait_s_ = 0;
};

}  // namespace tandem
