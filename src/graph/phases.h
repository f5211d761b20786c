// Cuts the part of a step that a remote task does into phases, so that the master's task can drive it by few calls: each phase is one
// RunGraph with the inputs in the request and the results in the reply, and nobody has to ask for a tensor.
//
// Say M is the master's task. A remote task T can be cut if it runs nothing that waits for other steps (queues, accumulators), if no
// value near it can be dead or belong to a loop, and if what it exchanges with other tasks than M is small: that goes through M.
// Every vertex gets a level:
//
//   level(v) >= level(u)      for each input u of v
//   level(v) >= level(u) + 1  if u is on a cut task and v is not on the same task
//
// All vertices of T with the same level form one phase. Phases with level l need from elsewhere only values of level <= l, which depend
// on phases with level < l only. So by induction over l every phase can start once all phases of lower levels have ended: no set of
// phases can wait for each other, though a phase starts only with all its inputs and nobody sees an output before its end. Within T, a
// vertex of a later phase runs after all of an earlier one, so edges inside T hold as well if phases run one after the other.
//
// The smallest levels are the shortest chain of calls. From there vertices of T are moved to later levels where no one else has to
// wait for it: vertices whose consumers all are in a later phase (fewer values to keep), then whole phases (fewer calls).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/prune.h"

namespace tandem {

struct PhaseOptions {
  std::string master_task;                             // M
  // Whether the kernels of this op may wait for something that another op or step does. Default: by a list of names.
  std::function<bool(const Node& node)> may_wait;
  // A value that a later phase of T or another task needs travels through M if it goes there anyway or is known to be no larger than this.
  int64_t max_carried_bytes = 4096;
};

struct StepPhases {
  static constexpr int kNotCut = -1;     // runs on M, or on a task that is not cut
  static constexpr int kInEach = -2;     // a variable, handle or constant: part of each phase that reads it
  struct Task {
    std::string name;                    // "/job:ps/replica:0/task:0"
    int phase_count = 0;                 // 0: not cut
    std::string why_not;                 // for the log
  };
  // A value (or, with output == kControl, the news that a node has run) that leaves a phase: for another task, or for a later phase.
  struct Result {
    int node;                            // index in StepGraph::nodes()
    int output;
    int phase;
  };
  std::vector<Task> tasks;               // all that run something, M's included, in the order of their first node
  std::vector<int> task_of;              // by node of the step graph: index in `tasks`
  std::vector<int> phase_of;             // by node of the step graph: phase on its task, or one of the constants above
  std::vector<Result> results;           // of all cut tasks
};

// Nodes must have their assigned devices.
StepPhases CutIntoPhases(const StepGraph& step, const PhaseOptions& options);

}  // namespace tandem
