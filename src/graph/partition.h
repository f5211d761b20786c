// Turns one step into one graph per task. Where an edge crosses, the giving side gets a _Send and the taking side a _Recv.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graph/phases.h"
#include "graph/prune.h"
#include "proto/graph.pb.h"

namespace tandem {

struct PartitionOptions {
  std::string client_device;  // full: where feeds come in and fetches go out; the first CPU of the master's task
  // Of a device of the session, by full name.
  std::function<uint64_t(const std::string& device)> incarnation;
  bool use_phases = false;    // cut remote tasks into phases where that can be done, see phases.h
  PhaseOptions phases;        // its master_task is set from client_device
};

// A tensor that goes from one task to another in each step.
struct CrossEdge {
  std::string key;            // full rendezvous key "<src>;<incarnation>;<dst>;edge_12_W/read;0:0"
  std::string source_task, target_task;
  DataType dtype = kFloat;
};

// What a task runs in each step by one RunGraph; its cross edges go by RecvTensor.
struct TaskPartition {
  std::string task;                        // "/job:ps/replica:0/task:0"
  std::shared_ptr<tensorflow::GraphDef> graph;
  std::vector<CrossEdge> sends, recvs;     // without those between the master's task and tasks that are cut
};

// What a remote task runs in each step by several RunGraphs, one after the other. The master's task gives each its inputs in `send` and
// asks for its outputs by `recv_key`. Phase p may be called when phase p-1 has answered and the inputs are there; in this
// way no two tasks can wait for each other.
struct PhasedTask {
  // A tensor between the master's task and this one, or from one phase of it to a later one. Dead values do not occur.
  struct Value {
    // In the step's rendezvous of the master's task. Both its devices are the client device, so a _Recv of it never asks another task;
    // client_terminated is false there, and means RunGraph's `send` and `recv_key` as everywhere.
    // Empty if no node there gives or takes it (phase to phase).
    std::string local_key;
    DataType dtype = kFloat;
    bool is_from_master = false;  // the master's partition sends local_key; else it receives local_key, once a phase has given the value
    // Only an order, nothing to carry: from the master, a phase waits for local_key but does not send it on; from a phase, whoever gets the
    // answer of RunGraph sends an empty tensor (float, shape [0]) under local_key.
    bool is_control = false;
  };
  // One use of a value: `key` is the name in RunGraphRequest.send or recv_key, different in each phase; empty if it is_control.
  struct Port {
    int value;                    // index in `values`
    std::string key;
  };
  struct Phase {
    std::shared_ptr<tensorflow::GraphDef> graph;
    std::vector<Port> inputs, outputs;  // a value from the master, or from an earlier phase, may be an input of several phases
  };
  std::string task;
  std::vector<Value> values;
  std::vector<Phase> phases;
};

struct StepPartitions {
  // Graphs to run by the standard protocol. The master's task comes first if it runs anything.
  std::vector<TaskPartition> tasks;
  // Tasks that are cut; none of them is in `tasks`.
  std::vector<PhasedTask> phased_tasks;
  // By feed and by fetch of the StepSpec: the rendezvous keys that RunGraph of the master's partition takes in `send` and `recv_key`.
  // A feed that nobody needs has an empty key.
  std::vector<std::string> feed_keys, fetch_keys;
};

// Nodes must have their assigned devices. InvalidArgument if a node needs a reference to a variable of another task. Unimplemented,
// naming it, for a loop that spans tasks.
// Every node of the result has a full device name; attrs that equal their default are left out.
StatusOr<StepPartitions> PartitionByTask(const StepGraph& step, const PartitionOptions& options);

}  // namespace tandem
