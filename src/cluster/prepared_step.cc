#include "cluster/prepared_step.h"

#include <utility>

#include "absl/synchronization/blocking_counter.h"
#include "cluster/message_buffer.h"
#include "proto/worker.pb.h"

namespace tandem {
namespace {

StatusOr<const SessionTask*> FindTask(absl::Span<const SessionTask> tasks, const std::string& name) {
  for (const SessionTask& task : tasks) {
    if (task.name == name) return &task;
  }
  return Internal("a part of the step is for ", name, ", which is not in the session");
}

// RegisterGraph at many tasks at once.
class Registrations {
 public:
  Registrations(const std::string& session_handle, const tensorflow::ConfigProto& config) : session_handle_(session_handle), config_(config) {}

  // `handle` is filled by Wait.
  void Add(const SessionTask* task, const tensorflow::GraphDef& graph, std::string* handle) { entries_.push_back({task, &graph, handle, {}}); }

  Status Wait() {
    absl::BlockingCounter left(static_cast<int>(entries_.size()));
    for (Entry& entry : entries_) {
      tensorflow::RegisterGraphRequest request;
      request.set_session_handle(session_handle_);
      *request.mutable_graph_def() = *entry.graph;
      *request.mutable_graph_options() = config_.graph_options();
      request.mutable_debug_options();
      request.set_create_worker_session_called(true);
      *request.mutable_config_proto() = config_;
      entry.task->rpc->Call(RpcMethod::kRegisterGraph, SerializeMessage(request), {}, [&entry, &left](RpcReply reply) {
        entry.status = std::move(reply.status);
        tensorflow::RegisterGraphResponse response;
        if (entry.status.ok()) entry.status = ParseMessage(reply.response, &response);
        if (entry.status.ok()) *entry.handle = response.graph_handle();
        left.DecrementCount();
      });
    }
    left.Wait();
    Status status;
    for (const Entry& entry : entries_) KeepRootError(&status, entry.status);
    return status;
  }

 private:
  struct Entry {
    const SessionTask* task;
    const tensorflow::GraphDef* graph;
    std::string* handle;
    Status status;
  };
  const std::string& session_handle_;
  const tensorflow::ConfigProto& config_;
  std::vector<Entry> entries_;
};

StatusOr<PreparedStep::Phased> PreparePhases(const PhasedTask& part, const SessionTask* task) {
  PreparedStep::Phased phased;
  phased.task = task;
  for (const PhasedTask::Value& value : part.values) {
    PreparedStep::Phased::Value made;
    made.has_local_key = !value.local_key.empty();
    if (made.has_local_key) {
      ASSIGN_OR_RETURN(made.local_key, EdgeKey::Parse(value.local_key));
    }
    made.is_from_master = value.is_from_master;
    made.is_control = value.is_control;
    phased.values.push_back(std::move(made));
  }
  for (size_t p = 0; p < part.phases.size(); ++p) {
    PreparedStep::Phased::Phase made;
    made.waits = p > 0 ? 1 : 0;
    for (const PhasedTask::Port& input : part.phases[p].inputs) {
      PreparedStep::Phased::Value& value = phased.values[input.value];
      if (!value.is_control) made.inputs.push_back({input.value, input.key});
      if (!value.is_from_master) continue;
      value.users.push_back(static_cast<int>(p));
      ++made.waits;
    }
    for (const PhasedTask::Port& output : part.phases[p].outputs) {
      if (phased.values[output.value].is_control) {
        made.controls.push_back(output.value);
      } else {
        made.outputs.push_back(output.value);
        made.recv_keys.push_back(output.key);
      }
    }
    phased.phases.push_back(std::move(made));
  }
  return phased;
}

Status MapFeedsAndFetches(const StepPartitions& partitions, absl::Span<const int> fetch_index, PreparedStep* step) {
  step->feed_count = partitions.feed_keys.size();
  if (step->local != nullptr) step->local_feeds.assign(step->local->feed_keys().size(), -1);
  for (size_t i = 0; i < partitions.feed_keys.size(); ++i) {
    if (partitions.feed_keys[i].empty()) continue;
    int position = step->local == nullptr ? -1 : step->local->FindFeed(partitions.feed_keys[i]);
    if (position < 0) return Internal("the master's part of the step does not take the feed ", partitions.feed_keys[i]);
    step->local_feeds[position] = static_cast<int>(i);
  }
  for (int feed : step->local_feeds) {
    if (feed < 0) return Internal("the master's part of the step takes a feed that nobody gives");
  }
  for (int index : fetch_index) {
    int position = step->local == nullptr ? -1 : step->local->FindFetch(partitions.fetch_keys[index]);
    if (position < 0) return Internal("the master's part of the step does not give the fetch ", partitions.fetch_keys[index]);
    step->fetch_positions.push_back(position);
  }
  return OkStatus();
}

}  // namespace

StatusOr<std::shared_ptr<PreparedStep>> RegisterStep(const StepPartitions& partitions, absl::Span<const int> fetch_index,
                                                     const std::shared_ptr<WorkerSession>& local_session, absl::Span<const SessionTask> tasks,
                                                     const std::string& session_handle, const tensorflow::ConfigProto& config) {
  auto step = std::make_shared<PreparedStep>();
  step->session_handle = session_handle;
  step->local_session = local_session;
  step->remotes.reserve(partitions.tasks.size());
  step->phased.reserve(partitions.phased_tasks.size());
  Registrations registrations(session_handle, config);
  for (const TaskPartition& part : partitions.tasks) {
    ASSIGN_OR_RETURN(const SessionTask* task, FindTask(tasks, part.task));
    if (!task->is_master) {
      step->has_remote_transfers = true;
      step->remotes.push_back({task, ""});
      registrations.Add(task, *part.graph, &step->remotes.back().graph_handle);
      continue;
    }
    ASSIGN_OR_RETURN(step->local, RegisteredGraph::Make(part.graph, local_session->devices, &local_session->kernels));
  }
  for (const PhasedTask& part : partitions.phased_tasks) {
    ASSIGN_OR_RETURN(const SessionTask* task, FindTask(tasks, part.task));
    ASSIGN_OR_RETURN(PreparedStep::Phased phased, PreparePhases(part, task));
    step->phased.push_back(std::move(phased));
    for (size_t p = 0; p < part.phases.size(); ++p) registrations.Add(task, *part.phases[p].graph, &step->phased.back().phases[p].graph_handle);
  }
  RETURN_IF_ERROR(registrations.Wait());
  RETURN_IF_ERROR(MapFeedsAndFetches(partitions, fetch_index, step.get()));
  return step;
}

}  // namespace tandem
