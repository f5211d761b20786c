// Which tasks a cluster has, and where they listen.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "core/status.h"

namespace tensorflow {
class ClusterDef;
}  // namespace tensorflow

namespace tandem {

struct TaskName {
  std::string job;
  int index = 0;

  std::string prefix() const;  // "/job:ps/replica:0/task:1"
  bool operator==(const TaskName& other) const { return job == other.job && index == other.index; }
};
// From "/job:ps/replica:0/task:1", with or without a device behind it. False if job or task is missing or malformed.
bool ParseTaskName(absl::string_view name, TaskName* task);
// The part of a full device name that names its task: "/job:ps/replica:0/task:1". Empty if there is none.
absl::string_view TaskOfDevice(absl::string_view device);

// A value. Jobs in alphabetical order, as in TensorFlow; the indices of a job may have gaps (ClusterDef).
class ClusterSpec {
 public:
  // "h:p,h:p" per job; a job with an empty list is left out. InvalidArgument naming a malformed address.
  static StatusOr<ClusterSpec> FromHosts(absl::Span<const std::pair<std::string, std::string>> job_hosts);
  // "chief|h:p;ps|h:p,h:p;worker|h:p".
  static StatusOr<ClusterSpec> FromText(absl::string_view text);
  static StatusOr<ClusterSpec> FromProto(const tensorflow::ClusterDef& proto);

  void ToProto(tensorflow::ClusterDef* proto) const;

  const std::map<std::string, std::map<int, std::string>>& jobs() const { return jobs_; }
  bool empty() const { return jobs_.empty(); }
  int task_count(const std::string& job) const;
  std::vector<TaskName> tasks() const;
  // InvalidArgument that names the job, the index and how many tasks there are.
  StatusOr<std::string> Address(const TaskName& task) const;
  // The same host:port under two names is legal (TensorFlow accepts it) but surely a mistake; one line per pair naming both.
  std::vector<std::string> DuplicateWarnings() const;

 private:
  Status Add(const std::string& job, int index, absl::string_view address);

  std::map<std::string, std::map<int, std::string>> jobs_;
};

// This process's place in a cluster.
struct TaskConfig {
  ClusterSpec cluster;  // empty: no cluster, everything runs in this process
  TaskName task{"worker", 0};
  bool is_chief = true;
  bool is_evaluator = false;  // outside the cluster, never joins
};

// From the four flags of a classic script. Errors: unknown job name, index out of range, malformed address, ps and worker both empty.
StatusOr<TaskConfig> TaskConfigFromFlags(absl::string_view job_name, int task_index, absl::string_view ps_hosts, absl::string_view worker_hosts);
// From the value of TF_CONFIG. Empty or "{}": no cluster. The chief is the job "chief" or "master" if there is one, worker 0 otherwise.
StatusOr<TaskConfig> TaskConfigFromJson(absl::string_view json);

}  // namespace tandem
