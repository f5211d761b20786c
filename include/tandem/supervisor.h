// Runs a training job: initialises or restores, saves and logs in the background, and goes on after a task was lost.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tandem/coordinator.h"
#include "tandem/graph.h"
#include "tandem/saver.h"
#include "tandem/session.h"
#include "tandem/summary.h"
#include "tandem/variable.h"

namespace tandem {

// Values that are not given are chosen; for those marked "none" an invalid value or nullptr in the optional switches them off.
struct SupervisorOptions {
  bool is_chief = true;
  std::string logdir = {};                         // checkpoints and event files; empty: neither
  Operation init_op = {};                          // default: initialises all of kGlobalVariables
  std::function<void(Session&)> init_fn = {};      // runs after init_op, when nothing was restored
  Output ready_op = {};                            // string vector, empty when ready; default: kGlobalVariables without a value
  Operation local_init_op = {};                    // run by every task; default: initialises kLocalVariables
  Output ready_for_local_init_op = {};             // local_init_op waits until this is empty; default: it does not wait (with a
                                                   // warning if local_init_op is given: it may run before the chief's init_op)
  std::optional<Output> summary_op = {};           // default: summary::MergeAll; Output() for none. It is run in the background, but
                                                   // for a default one that needs placeholders: it joins runs that feed them
  Variable global_step = {};                       // default: that of the graph, if it has one
  std::optional<Saver*> saver = {};                // default: one of its own; nullptr: neither saves nor restores
  double save_summaries_secs = 120;                // 0: never
  double save_model_secs = 600;                    // 0: never
  int max_to_keep = 5;                             // of the saver of its own
  std::string checkpoint_basename = "model.ckpt";
  double recovery_wait_secs = 30;                  // longest pause between two looks whether the model is ready
  double max_wait_secs = 7200;                     // for the model to become ready; then DeadlineExceeded
  double stop_grace_secs = 120;                    // for background threads to end
  SessionOptions session = {};                     // without device_filters: this task waits for ps tasks only
};

// All methods throw tandem::Error.
class Supervisor {
 public:
  // Adds the ops that it needs; build the graph before. `options.logdir` that cannot be made or written is an error of the chief.
  explicit Supervisor(Graph& graph, const SupervisorOptions& options = {});
  // Stop().
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;

  // The chief restores the newest checkpoint of logdir, or else initialises, and then starts to save and log; the others wait until
  // the model is ready. Owned by the supervisor. Once per supervisor.
  //
  // From then on, a run on it that finds a task gone or restarted does not fail: it says so, waits until the task is back, the chief
  // restores from the last checkpoint, the others wait until it has, and the run is done again.
  Session& ManagedSession(const std::string& target = "");

  // True after RequestStop, SIGTERM or SIGINT. Throws what a background thread failed with: a checkpoint that cannot be written
  // must not go unnoticed.
  bool ShouldStop();
  void RequestStop();
  // Ends the background threads, closes event file and session. Safe to call more than once.
  void Stop();

  // Writes a fetched summary to the event file, at `step` or the current global step. FailedPrecondition on a task without an event
  // file: one that is not the chief, or has no logdir.
  void SummaryComputed(const Tensor& summary, std::optional<int64_t> step = std::nullopt);
  // Saves now, on the chief. Returns the path.
  std::string SaveNow();

  bool is_chief() const;
  Session& session();
  Coordinator& coordinator();
  Saver* saver();                // null if there is none
  FileWriter* summary_writer();  // null if there is none
  const Output& summary_op() const;
  std::string save_path() const;  // "<logdir>/model.ckpt"

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tandem
