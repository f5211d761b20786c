// One kind of step, given by its feeds, fetches and targets, made ready to run many times: cut by task, each part registered with its task, all names
// turned into positions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "cluster/data_channel.h"
#include "cluster/registered_graph.h"
#include "cluster/rpc_client.h"
#include "cluster/session_devices.h"
#include "cluster/worker.h"
#include "graph/partition.h"
#include "kernel/rendezvous.h"

namespace tensorflow {
class ConfigProto;
}  // namespace tensorflow

namespace tandem {

struct PreparedStep {
  // What another task runs by one RunGraph.
  struct Remote {
    const SessionTask* task;
    std::string graph_handle;
  };
  // What another task runs by one RunGraph after the other, see graph/partition.h.
  struct Phased {
    struct Value {
      bool has_local_key = false;
      EdgeKey local_key;             // in the step's rendezvous here
      bool is_from_master = false;
      bool is_control = false;       // only an order: no tensor travels
      std::vector<int> users;        // phases that wait for it, if it is from the master
    };
    struct Input {
      int value;
      std::string key;
    };
    struct Phase {
      std::string graph_handle;
      std::vector<Input> inputs;           // without controls
      std::vector<int> outputs;            // values, in the order of recv_keys
      std::vector<std::string> recv_keys;
      std::vector<int> controls;           // values that are there when the phase has run
      int waits = 0;                       // values from the master, and one for the phase before
    };
    const SessionTask* task;
    std::vector<Value> values;
    std::vector<Phase> phases;
  };

  std::string session_handle;
  std::shared_ptr<WorkerSession> local_session;
  std::shared_ptr<RegisteredGraph> local;  // null if the master's task runs nothing
  std::vector<Remote> remotes;
  std::vector<Phased> phased;
  size_t feed_count = 0;
  std::vector<int> local_feeds;            // by feed of `local`: index among the step's feeds
  std::vector<int> fetch_positions;        // by fetch as asked for: index among the fetches of `local`
  bool has_remote_transfers = false;       // the master's task asks other tasks for tensors, or they ask it
};

// Registers the parts and waits for the answers; not on a polling thread. `tasks` outlive the result. `fetch_index` is ResolveStep's.
StatusOr<std::shared_ptr<PreparedStep>> RegisterStep(const StepPartitions& partitions, absl::Span<const int> fetch_index,
                                                     const std::shared_ptr<WorkerSession>& local_session, absl::Span<const SessionTask> tasks,
                                                     const std::string& session_handle, const tensorflow::ConfigProto& config);

}  // namespace tandem
