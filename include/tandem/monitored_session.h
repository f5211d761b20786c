// A training session whose extras are hooks: stop at a step, save, log, write summaries.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tandem/saver.h"
#include "tandem/session.h"
#include "tandem/summary.h"
#include "tandem/variable.h"

namespace tandem {

// What a hook sees of one run.
class RunContext {
 public:
  RunContext(Session& session) : session_(session) {}  // NOLINT
  Session& session() const { return session_; }
  // No further run after this one: ShouldStop() of the monitored session becomes true.
  void RequestStop() { is_stop_requested_ = true; }
  bool is_stop_requested() const { return is_stop_requested_; }

 private:
  Session& session_;
  bool is_stop_requested_ = false;
};

class SessionHook {
 public:
  virtual ~SessionHook() = default;
  // While the graph may still grow.
  virtual void Begin(Graph& /*graph*/) {}
  // Also when the session was made anew because a task was lost.
  virtual void AfterCreateSession(Session& /*session*/) {}
  // What to fetch beside what the program asks for.
  virtual std::vector<Fetch> BeforeRun(RunContext& /*context*/) { return {}; }
  // `values` of those fetches, in order.
  virtual void AfterRun(RunContext& /*context*/, const std::vector<Tensor>& /*values*/) {}
  // At the end, unless it ends with an error.
  virtual void End(Session& /*session*/) {}
};
using HookList = std::vector<std::shared_ptr<SessionHook>>;

// Stops when the global step has reached `last_step`, or after `steps` more than at the start. Give one of the two.
class StopAtStepHook : public SessionHook {
 public:
  static std::shared_ptr<StopAtStepHook> At(int64_t last_step);
  static std::shared_ptr<StopAtStepHook> After(int64_t steps);
  StopAtStepHook(int64_t steps, bool counts_from_start) : steps_(steps), counts_from_start_(counts_from_start) {}

  void Begin(Graph& graph) override;
  void AfterCreateSession(Session& session) override;
  std::vector<Fetch> BeforeRun(RunContext& context) override;
  void AfterRun(RunContext& context, const std::vector<Tensor>& values) override;

 private:
  const int64_t steps_;
  const bool counts_from_start_;
  bool has_start_ = false;
  int64_t last_step_ = 0;
  Variable step_;
};

// When a hook acts: every `steps` steps, or every `secs` seconds; the first of the two that is set.
struct Interval {
  int64_t steps = 0;
  double secs = 0;
};

// Decides whether it is time, by step and clock.
class IntervalTimer {
 public:
  explicit IntervalTimer(const Interval& interval) : interval_(interval) {}
  bool ShouldTrigger(int64_t step) const;
  // Seconds and steps since the last call; zeros at the first.
  std::pair<double, int64_t> Trigger(int64_t step);

 private:
  const Interval interval_;
  bool has_triggered_ = false;
  int64_t last_step_ = 0, last_nanos_ = 0;
};

// Saves when the session is made, then at intervals, and at the end.
class CheckpointSaverHook : public SessionHook {
 public:
  CheckpointSaverHook(std::string directory, Saver* saver, const Interval& interval, std::string basename = "model.ckpt")
      : directory_(std::move(directory)), basename_(std::move(basename)), saver_(saver), timer_(interval) {}

  void Begin(Graph& graph) override;
  void AfterCreateSession(Session& session) override;
  std::vector<Fetch> BeforeRun(RunContext& context) override;
  void AfterRun(RunContext& context, const std::vector<Tensor>& values) override;
  void End(Session& session) override;

 private:
  void Save(Session& session, int64_t step);

  const std::string directory_, basename_;
  Saver* const saver_;
  IntervalTimer timer_;
  Variable step_;
  int64_t last_saved_ = -1;
};

// Logs tensors, each with a name for people.
class LoggingHook : public SessionHook {
 public:
  LoggingHook(std::vector<std::pair<std::string, Output>> tensors, const Interval& interval) : tensors_(std::move(tensors)), timer_(interval) {}

  std::vector<Fetch> BeforeRun(RunContext& context) override;
  void AfterRun(RunContext& context, const std::vector<Tensor>& values) override;

 private:
  const std::vector<std::pair<std::string, Output>> tensors_;
  IntervalTimer timer_;
  int64_t runs_ = 0;
  bool is_due_ = false;
};

// Writes a merged summary; `summary_op` invalid: summary::MergeAll.
class SummarySaverHook : public SessionHook {
 public:
  SummarySaverHook(std::shared_ptr<FileWriter> writer, const Interval& interval, const Output& summary_op = {})
      : writer_(std::move(writer)), summary_op_(summary_op), timer_(interval) {}

  void Begin(Graph& graph) override;
  std::vector<Fetch> BeforeRun(RunContext& context) override;
  void AfterRun(RunContext& context, const std::vector<Tensor>& values) override;
  void End(Session& session) override;

 private:
  const std::shared_ptr<FileWriter> writer_;
  Output summary_op_;
  IntervalTimer timer_;
  Variable step_;
  int64_t next_step_ = -1;  // not known before the first run
  bool is_due_ = false;
};

// Steps per second, to the log and, if there is a writer, as "global_step/sec".
class StepCounterHook : public SessionHook {
 public:
  StepCounterHook(std::shared_ptr<FileWriter> writer, const Interval& interval) : writer_(std::move(writer)), timer_(interval) {}

  void Begin(Graph& graph) override;
  std::vector<Fetch> BeforeRun(RunContext& context) override;
  void AfterRun(RunContext& context, const std::vector<Tensor>& values) override;

 private:
  const std::shared_ptr<FileWriter> writer_;
  IntervalTimer timer_;
  Variable step_;
};

struct MonitoredSessionOptions {
  std::string target = {};
  bool is_chief = true;
  std::string checkpoint_dir = {};     // empty: nothing is saved or restored
  HookList hooks = {};                 // on every task
  HookList chief_only_hooks = {};
  Interval save_checkpoint = {.steps = 0, .secs = 600};  // of the chief, as the next three
  Interval save_summaries = {.steps = 100, .secs = 0};
  Interval log_step_count = {.steps = 100, .secs = 0};
  int max_to_keep = 5;
  double recovery_wait_secs = 30;
  double max_wait_secs = 7200;
  SessionOptions session = {};
};

// Like Supervisor::ManagedSession, but saving and logging happen between runs, by hooks. All methods throw tandem::Error.
class MonitoredSession {
 public:
  // The graph must be complete, but for what hooks add in Begin. A global step is made if there is none.
  explicit MonitoredSession(Graph& graph, const MonitoredSessionOptions& options = {});
  // Runs End of the hooks unless a run has failed.
  ~MonitoredSession();
  MonitoredSession(const MonitoredSession&) = delete;

  bool ShouldStop();
  std::vector<Tensor> Run(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds = {});
  Session& session();
  // What the destructor does, with errors.
  void Close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tandem
