#include "cluster/session_devices.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "cluster/message_buffer.h"
#include "core/log.h"
#include "core/mutex.h"
#include "graph/device_name.h"
#include "proto/worker.pb.h"

namespace tandem {

StatusOr<std::vector<SessionTask>> SelectTasks(Peers* peers, const std::string& master_task, absl::Span<const std::string> filters) {
  std::vector<DeviceName> wanted;
  for (const std::string& filter : filters) {
    StatusOr<DeviceName> name = DeviceName::Parse(filter);
    if (!name.ok()) return Annotate(name.status(), "device_filters");
    name->type.reset();  // a filter chooses tasks
    name->id.reset();
    wanted.push_back(*std::move(name));
  }
  std::vector<SessionTask> tasks;
  for (const TaskName& task : peers->cluster().tasks()) {
    SessionTask selected{task.prefix()};
    selected.is_master = selected.name == master_task;
    DeviceName name;
    name.job = task.job;
    name.replica = 0;
    name.task = task.index;
    const bool is_wanted = wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](const DeviceName& filter) { return filter.Matches(name); });
    if (!is_wanted && !selected.is_master) continue;
    if (!selected.is_master) {
      ASSIGN_OR_RETURN(selected.rpc, peers->Rpc(selected.name));
      ASSIGN_OR_RETURN(selected.channel, peers->Channel(selected.name));
    }
    tasks.push_back(std::move(selected));
  }
  std::stable_sort(tasks.begin(), tasks.end(), [](const SessionTask& a, const SessionTask& b) { return a.is_master && !b.is_master; });
  return tasks;
}

namespace {

constexpr absl::Duration kReportInterval = absl::Seconds(10);

struct Asking {
  Mutex mu;
  std::vector<std::string> missing ABSL_GUARDED_BY(mu);
  Status error ABSL_GUARDED_BY(mu);
  std::vector<std::shared_ptr<OutgoingCall>> calls ABSL_GUARDED_BY(mu);
};

Status TakeDevices(const std::string& task, const grpc::ByteBuffer& reply, std::vector<tensorflow::DeviceAttributes>* devices) {
  tensorflow::GetStatusResponse response;
  RETURN_IF_ERROR(ParseMessage(reply, &response));
  for (auto& device : *response.mutable_device_attributes()) {
    size_t end = device.name().find("/device:");
    if (end == std::string::npos) return InvalidArgument(task, " has a device with the name \"", device.name(), "\"");
    device.set_name(task + device.name().substr(end));
    devices->push_back(device);
  }
  return devices->empty() ? Internal(task, " has no device") : OkStatus();
}

}  // namespace

Status DiscoverDevices(std::vector<SessionTask>* tasks, int64_t timeout_ms, Cancellation* cancellation) {
  // Shared with the replies, which may still come when this function has ended early.
  auto asking = std::make_shared<Asking>();
  auto answers = std::make_shared<std::vector<std::vector<tensorflow::DeviceAttributes>>>(tasks->size());
  {
    MutexLock lock(&asking->mu);
    for (const SessionTask& task : *tasks) {
      if (!task.is_master) asking->missing.push_back(task.name);
    }
  }
  for (size_t i = 0; i < tasks->size(); ++i) {
    const SessionTask& task = (*tasks)[i];
    if (task.is_master) continue;
    auto call = task.rpc->Call(RpcMethod::kGetStatus, WireWriter().Finish(), {.wait_for_ready = true}, [asking, answers, i, name = task.name](RpcReply reply) {
      std::vector<tensorflow::DeviceAttributes> devices;
      if (reply.status.ok()) reply.status = TakeDevices(name, reply.response, &devices);
      MutexLock lock(&asking->mu);
      (*answers)[i] = std::move(devices);
      if (asking->error.ok()) asking->error = reply.status;
      asking->missing.erase(std::find(asking->missing.begin(), asking->missing.end(), name));
    });
    MutexLock lock(&asking->mu);
    asking->calls.push_back(std::move(call));
  }
  const Cancellation::Token token = cancellation->Register([asking, cancellation] {
    MutexLock lock(&asking->mu);
    if (!asking->error.ok() || asking->missing.empty()) return;
    const Status reason = cancellation->reason();
    asking->error = Status(reason.code(), absl::StrCat(reason.message(), " (no answer from ", absl::StrJoin(asking->missing, ", "), ")"));
  });
  Status status;
  std::vector<std::shared_ptr<OutgoingCall>> calls;
  {
    auto is_done = [&asking]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return asking->missing.empty() || !asking->error.ok(); };
    MutexLock lock(&asking->mu);
    if (token == Cancellation::kNoToken && asking->error.ok()) asking->error = cancellation->reason();
    const absl::Time start = absl::Now(), end = timeout_ms > 0 ? start + absl::Milliseconds(timeout_ms) : absl::InfiniteFuture();
    for (absl::Time report = start + kReportInterval; !asking->mu.AwaitWithDeadline(absl::Condition(&is_done), std::min(report, end)); report += kReportInterval) {
      if (absl::Now() >= end) {
        asking->error = DeadlineExceeded("no answer from ", absl::StrJoin(asking->missing, ", "), " within ", static_cast<double>(timeout_ms) / 1000, " s");
        break;
      }
      LogWarning("CreateSession still waiting for response from ", absl::StrJoin(asking->missing, ", "), " after ", absl::ToInt64Seconds(absl::Now() - start), " s");
    }
    status = asking->error;
    calls.swap(asking->calls);
    if (status.ok()) {
      for (size_t i = 0; i < tasks->size(); ++i) {
        if (!(*tasks)[i].is_master) (*tasks)[i].devices = (*answers)[i];
      }
    }
  }
  if (token != Cancellation::kNoToken) cancellation->DeregisterAndWait(token);
  if (!status.ok()) {
    for (const auto& call : calls) call->Cancel();
  }
  return status;
}

}  // namespace tandem
