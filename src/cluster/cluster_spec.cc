#include "cluster/cluster_spec.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/net_address.h"
#include "proto/cluster.pb.h"

namespace tandem {
namespace {

bool IsJobName(absl::string_view name) {
  if (name.empty() || !absl::ascii_isalpha(name[0])) return false;
  for (char c : name) {
    if (!absl::ascii_isalnum(c) && c != '_') return false;
  }
  return true;
}

// Takes "/<key>:<value>" off the front of `rest`.
bool TakePart(absl::string_view* rest, absl::string_view key, absl::string_view* value) {
  if (!absl::ConsumePrefix(rest, "/") || !absl::ConsumePrefix(rest, key) || !absl::ConsumePrefix(rest, ":")) return false;
  *value = rest->substr(0, rest->find('/'));
  rest->remove_prefix(value->size());
  return !value->empty();
}

}  // namespace

std::string TaskName::prefix() const { return absl::StrCat("/job:", job, "/replica:0/task:", index); }

bool ParseTaskName(absl::string_view name, TaskName* task) {
  absl::string_view job, index;
  if (!TakePart(&name, "job", &job)) return false;
  absl::string_view replica, before = name;
  if (!TakePart(&name, "replica", &replica)) name = before;
  if (!TakePart(&name, "task", &index) || !absl::SimpleAtoi(index, &task->index) || task->index < 0) return false;
  task->job = std::string(job);
  return IsJobName(job);
}

absl::string_view TaskOfDevice(absl::string_view device) {
  size_t end = device.find("/device:");
  return end == absl::string_view::npos ? absl::string_view() : device.substr(0, end);
}

Status ClusterSpec::Add(const std::string& job, int index, absl::string_view address) {
  if (!IsJobName(job)) return InvalidArgument("\"", job, "\" is not a job name; letters, digits and _ are allowed, a letter first");
  if (index < 0) return InvalidArgument("job ", job, " has a task with index ", index);
  RETURN_IF_ERROR(Annotate(ParseHostPort(address).status(), absl::StrCat("task ", index, " of job ", job)));
  if (!jobs_[job].emplace(index, std::string(address)).second) return InvalidArgument("job ", job, " has two tasks with index ", index);
  return OkStatus();
}

StatusOr<ClusterSpec> ClusterSpec::FromHosts(absl::Span<const std::pair<std::string, std::string>> job_hosts) {
  ClusterSpec spec;
  for (const auto& [job, hosts] : job_hosts) {
    if (absl::StripAsciiWhitespace(hosts).empty()) continue;
    if (spec.jobs_.count(job) > 0) return InvalidArgument("job ", job, " is given twice");
    int index = 0;
    for (absl::string_view host : absl::StrSplit(hosts, ',')) RETURN_IF_ERROR(spec.Add(job, index++, absl::StripAsciiWhitespace(host)));
  }
  return spec;
}

StatusOr<ClusterSpec> ClusterSpec::FromText(absl::string_view text) {
  std::vector<std::pair<std::string, std::string>> job_hosts;
  for (absl::string_view job : absl::StrSplit(text, ';', absl::SkipWhitespace())) {
    std::vector<std::string> parts = absl::StrSplit(absl::StripAsciiWhitespace(job), '|');
    if (parts.size() != 2) return InvalidArgument("\"", job, "\" in the cluster \"", text, "\" is not job|host:port,host:port");
    job_hosts.emplace_back(parts[0], parts[1]);
  }
  return FromHosts(job_hosts);
}

StatusOr<ClusterSpec> ClusterSpec::FromProto(const tensorflow::ClusterDef& proto) {
  ClusterSpec spec;
  for (const auto& job : proto.job()) {
    if (spec.jobs_.count(job.name()) > 0) return InvalidArgument("job ", job.name(), " is given twice");
    for (const auto& [index, address] : job.tasks()) RETURN_IF_ERROR(spec.Add(job.name(), index, address));
  }
  return spec;
}

void ClusterSpec::ToProto(tensorflow::ClusterDef* proto) const {
  for (const auto& [name, tasks] : jobs_) {
    auto* job = proto->add_job();
    job->set_name(name);
    for (const auto& [index, address] : tasks) (*job->mutable_tasks())[index] = address;
  }
}

int ClusterSpec::task_count(const std::string& job) const {
  auto found = jobs_.find(job);
  return found == jobs_.end() ? 0 : static_cast<int>(found->second.size());
}

std::vector<TaskName> ClusterSpec::tasks() const {
  std::vector<TaskName> all;
  for (const auto& [job, tasks] : jobs_) {
    for (const auto& [index, address] : tasks) all.push_back({job, index});
  }
  return all;
}

StatusOr<std::string> ClusterSpec::Address(const TaskName& task) const {
  auto job = jobs_.find(task.job);
  if (job == jobs_.end()) {
    std::string known;
    for (const auto& [name, tasks] : jobs_) absl::StrAppend(&known, known.empty() ? "" : ", ", name);
    return InvalidArgument("job \"", task.job, "\" is not in the cluster; its jobs are: ", known.empty() ? "none" : known);
  }
  auto found = job->second.find(task.index);
  if (found == job->second.end()) {
    return InvalidArgument("task index ", task.index, " is out of range: job ", task.job, " has ", job->second.size(), " task", job->second.size() == 1 ? "" : "s",
                           ", numbered from 0");
  }
  return found->second;
}

std::vector<std::string> ClusterSpec::DuplicateWarnings() const {
  std::vector<std::string> warnings;
  std::map<std::string, TaskName> first;
  for (const TaskName& task : tasks()) {
    const std::string& address = jobs_.at(task.job).at(task.index);
    if (absl::EndsWith(address, ":0")) continue;  // each picks a port of its own
    auto [found, is_new] = first.emplace(address, task);
    if (!is_new) warnings.push_back(absl::StrCat("address ", address, " is given to both ", found->second.prefix(), " and ", task.prefix()));
  }
  return warnings;
}

}  // namespace tandem
