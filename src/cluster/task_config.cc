// How a process learns its place in a cluster: from flags or from TF_CONFIG.
#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "cluster/cluster_spec.h"
#include "core/log.h"

namespace tandem {
namespace {

using nlohmann::json;

// The chief's job of a TF_CONFIG cluster: "chief", or "master" in older ones; worker 0 if there is neither.
TaskName ChiefOf(const ClusterSpec& cluster) {
  for (const char* job : {"chief", "master"}) {
    if (cluster.task_count(job) > 0) return {job, cluster.jobs().at(job).begin()->first};
  }
  return {"worker", 0};
}

StatusOr<ClusterSpec> ClusterFromJson(const json& jobs) {
  std::vector<std::pair<std::string, std::string>> job_hosts;
  if (!jobs.is_object()) return InvalidArgument("TF_CONFIG: \"cluster\" is not an object of job names");
  for (const auto& [job, hosts] : jobs.items()) {
    if (!hosts.is_array()) return InvalidArgument("TF_CONFIG: job \"", job, "\" is not a list of addresses");
    std::string joined;
    for (const json& host : hosts) {
      if (!host.is_string()) return InvalidArgument("TF_CONFIG: job \"", job, "\" has an address that is not a string: ", host.dump());
      absl::StrAppend(&joined, joined.empty() ? "" : ",", host.get<std::string>());
    }
    job_hosts.emplace_back(job, joined);
  }
  StatusOr<ClusterSpec> spec = ClusterSpec::FromHosts(job_hosts);
  if (!spec.ok()) return Annotate(spec.status(), "TF_CONFIG");
  return spec;
}

StatusOr<int> IndexFromJson(const json& index) {
  if (index.is_number_integer()) {
    int64_t value = index.get<int64_t>();
    if (value >= 0 && value < (1 << 30)) return static_cast<int>(value);
  }
  int value = 0;
  if (index.is_string() && absl::SimpleAtoi(index.get<std::string>(), &value) && value >= 0) return value;
  return InvalidArgument("TF_CONFIG: the task's index is ", index.dump(), ", not a number from 0");
}

void WarnOfDuplicates(const ClusterSpec& cluster) {
  for (const std::string& warning : cluster.DuplicateWarnings()) LogWarning(warning);
}

}  // namespace

StatusOr<TaskConfig> TaskConfigFromFlags(absl::string_view job_name, int task_index, absl::string_view ps_hosts, absl::string_view worker_hosts) {
  TaskConfig config;
  ASSIGN_OR_RETURN(config.cluster, ClusterSpec::FromHosts({{"ps", std::string(ps_hosts)}, {"worker", std::string(worker_hosts)}}));
  if (config.cluster.empty()) return InvalidArgument("neither ps_hosts nor worker_hosts names a task");
  config.task = {std::string(job_name), task_index};
  RETURN_IF_ERROR(config.cluster.Address(config.task).status());
  config.is_chief = config.task == ChiefOf(config.cluster);
  WarnOfDuplicates(config.cluster);
  return config;
}

StatusOr<TaskConfig> TaskConfigFromJson(absl::string_view text) {
  TaskConfig config;
  if (absl::StripAsciiWhitespace(text).empty()) return config;
  json root = json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded() || !root.is_object()) return InvalidArgument("TF_CONFIG is not a JSON object: ", text.substr(0, 200));
  if (root.contains("cluster")) {
    ASSIGN_OR_RETURN(config.cluster, ClusterFromJson(root["cluster"]));
  }
  json task = root.value("task", json::object());
  if (!task.is_object()) return InvalidArgument("TF_CONFIG: \"task\" is not an object");
  if (!task.contains("type") && !task.contains("index")) {
    if (config.cluster.empty()) return config;
    return InvalidArgument("TF_CONFIG has a cluster but does not say which task this is");
  }
  if (!task.contains("type") || !task["type"].is_string()) return InvalidArgument("TF_CONFIG: the task has no type");
  config.task.job = task["type"].get<std::string>();
  config.task.index = 0;
  if (task.contains("index")) {
    ASSIGN_OR_RETURN(config.task.index, IndexFromJson(task["index"]));
  }
  if (config.task.job == "evaluator") {  // by definition outside the cluster that the others form
    config.cluster = ClusterSpec();
    config.is_chief = false;
    config.is_evaluator = true;
    return config;
  }
  if (config.cluster.empty()) return config;
  Status known = config.cluster.Address(config.task).status();
  if (!known.ok()) return Annotate(known, "TF_CONFIG");
  config.is_chief = config.task == ChiefOf(config.cluster);
  WarnOfDuplicates(config.cluster);
  return config;
}

}  // namespace tandem
