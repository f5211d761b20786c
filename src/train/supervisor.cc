#include "tandem/supervisor.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "client/local_tasks.h"
#include "client/session_state.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/log.h"
#include "tandem/error.h"
#include "tandem/ops.h"
#include "train/saver_state.h"
#include "train/session_manager.h"
#include "train/stop_signal.h"
#include "train/summary_observer.h"
#include "client/local_tasks.h"

namespace tandem {
namespace {

// Whether this thread leaves a lost session to others: background threads skip a round, and whoever saves must not wait for a restore.
thread_local bool leaves_recovery_to_others = false;

class LeavesRecoveryToOthers {
 public:
  LeavesRecoveryToOthers() : saved_(std::exchange(leaves_recovery_to_others, true)) {}
  ~LeavesRecoveryToOthers() { leaves_recovery_to_others = saved_; }

 private:
  const bool saved_;
};

Variable GlobalStepOf(const Graph& graph, const Variable& given) {
  if (given.is_valid()) return given;
  for (const Output& handle : graph.Collection(kGlobalStep)) return Variable::FromHandle(handle);
  return Variable();
}

}  // namespace

struct Supervisor::State {
  State(Graph& g, const SupervisorOptions& o) : graph(g), options(o) {}

  Graph& graph;
  SupervisorOptions options;
  Variable global_step;
  Output summary_op;
  Saver* saver = nullptr;
  std::unique_ptr<Saver> own_saver;
  std::unique_ptr<FileWriter> writer;
  std::unique_ptr<SessionManager> manager;
  std::unique_ptr<Session> session;
  Coordinator coordinator;
  int signal_token = 0;
  bool is_stopped = false;

  Mutex recover_mu;  // held while one thread makes a new session, so that others wait for it
  Mutex save_mu;     // a saver serves one thread at a time

  std::string save_path() const { return JoinPath(options.logdir, options.checkpoint_basename); }

  void CompleteGraph();
  SessionManagerOptions ManagerOptions(const std::string& target) const;
  Status Recover(const Status& lost, const std::shared_ptr<SessionConnection>& connection);
  void StartServices();
  void StartSummaries();
  // Runs `body` on a timer. A session that is lost is the training loop's business; any other error ends the job.
  void StartTimer(const char* name, double interval_s, std::function<Status()> body);
  StatusOr<int64_t> CurrentStep();
  Status SaveNow(std::string* path);
  Status WriteSummaries();
};

void Supervisor::State::CompleteGraph() {
  global_step = GlobalStepOf(graph, options.global_step);
  if (options.local_init_op.is_valid() && !options.ready_for_local_init_op.is_valid()) {
    LogWarning("local_init_op '", options.local_init_op.name(),
               "' is given without ready_for_local_init_op: it runs as soon as there is a session, perhaps before the chief has initialised the variables that it reads");
  }
  if (!options.init_op.is_valid()) options.init_op = GlobalVariablesInitializer(graph);
  if (!options.ready_op.is_valid()) options.ready_op = ReportUninitializedVariables(graph, Variable::Collection(graph, kGlobalVariables));
  if (!options.local_init_op.is_valid() && !graph.Collection(kLocalVariables).empty()) options.local_init_op = LocalVariablesInitializer(graph);
  if (options.saver.has_value()) {
    saver = *options.saver;
  } else if (!graph.Collection(kGlobalVariables).empty()) {
    own_saver = std::make_unique<Saver>(graph, SaverOptions{.max_to_keep = options.max_to_keep});
    saver = own_saver.get();
  }
  summary_op = options.summary_op.has_value() ? *options.summary_op : summary::MergeAll(graph);
}

SessionManagerOptions Supervisor::State::ManagerOptions(const std::string& target) const {
  SessionManagerOptions made;
  made.target = target;
  made.session = TrainingSessionOptions(graph, target, options.session);
  made.is_chief = options.is_chief;
  made.init_op = options.init_op;
  made.init_fn = options.init_fn;
  made.ready_op = options.ready_op;
  made.local_init_op = options.local_init_op;
  made.ready_for_local_init_op = options.ready_for_local_init_op;
  made.saver = saver;
  made.checkpoint_dir = options.logdir;
  made.recovery_wait_secs = options.recovery_wait_secs;
  made.max_wait_secs = options.max_wait_secs;
  if (std::optional<LocalTask> local = FindLocalTask(target); local.has_value() && local->wait_s > 0) made.max_wait_secs = std::min(made.max_wait_secs, local->wait_s);
  made.should_stop = [this] { return coordinator.ShouldStop(); };
  return made;
}

Status Supervisor::State::Recover(const Status& lost, const std::shared_ptr<SessionConnection>& connection) {
  if (leaves_recovery_to_others || coordinator.ShouldStop()) return lost;
  MutexLock lock(&recover_mu);
  if (session->state().connection() != connection) return OkStatus();  // another thread was faster
  LogWarning("lost the session: ", lost.ToString());
  const int64_t start = MonotonicNanos();
  StatusOr<std::unique_ptr<Session>> fresh = [&] {
    MutexLock no_save(&save_mu);
    return manager->Recover();
  }();
  RETURN_IF_ERROR(fresh.status());
  session->state().Adopt(&(*fresh)->state());
  if (writer != nullptr) {
    // Tells TensorBoard to forget what came after the checkpoint that training now goes on from.
    LeavesRecoveryToOthers guard;
    StatusOr<int64_t> step = CurrentStep();
    if (step.ok()) writer->AddStart(*step);
  }
  LogInfo("going on after ", (MonotonicNanos() - start) / 1000000, " ms with a new session");
  return OkStatus();
}

void Supervisor::State::StartTimer(const char* name, double interval_s, std::function<Status()> body) {
  coordinator.StartTimer(name, interval_s, [body = std::move(body), name] {
    LeavesRecoveryToOthers guard;
    Status status = body();
    if (IsLostSession(status)) {
      LogDebug(name, " skips a round: ", status.ToString());
    } else {
      ThrowIfError(status);
    }
  });
}

StatusOr<int64_t> Supervisor::State::CurrentStep() {
  if (!global_step.is_valid()) return 0;
  std::vector<Tensor> outputs;
  RETURN_IF_ERROR(session->state().Run({}, {Fetch(global_step)}, {}, nullptr, &outputs));
  return outputs[0].dtype() == kInt64 ? outputs[0].scalar<int64_t>() : outputs[0].scalar<int32_t>();
}

Status Supervisor::State::SaveNow(std::string* path) {
  LeavesRecoveryToOthers guard;
  MutexLock lock(&save_mu);
  std::optional<int64_t> step;
  if (global_step.is_valid()) {
    ASSIGN_OR_RETURN(step, CurrentStep());
  }
  ASSIGN_OR_RETURN(*path, saver->state().Save(*session, save_path(), step));
  LogInfo("saved ", *path);
  if (writer != nullptr) writer->AddCheckpoint(*path, step.value_or(0));
  return OkStatus();
}

Status Supervisor::State::WriteSummaries() {
  std::vector<Fetch> fetches = {summary_op};
  if (global_step.is_valid()) fetches.push_back(global_step);
  std::vector<Tensor> outputs;
  RETURN_IF_ERROR(session->state().Run({}, fetches, {}, nullptr, &outputs));
  writer->AddSummary(outputs[0], global_step.is_valid() ? outputs[1].scalar<int64_t>() : 0);
  writer->Flush();
  return OkStatus();
}

void Supervisor::State::StartSummaries() {
  std::vector<std::string> needed = PlaceholdersBefore(summary_op);
  // Whoever names a summary_op wants it run in the background, and gets the error if it cannot.
  if (options.summary_op.has_value() || needed.empty()) {
    StartTimer("summaries", options.save_summaries_secs, [this] { return WriteSummaries(); });
    return;
  }
  LogInfo("summaries need ", absl::StrJoin(needed, ", "), ": they are written with runs that feed them");
  session->state().observer = std::make_shared<SummaryObserver>(summary_op, global_step, std::move(needed), options.save_summaries_secs, writer.get());
}

void Supervisor::State::StartServices() {
  if (!options.is_chief) return;
  if (options.logdir.empty()) {
    LogWarning("no logdir: nothing is saved, no summaries are written");
    return;
  }
  if (writer != nullptr) {
    writer->AddGraph(graph);
    writer->AddStart(ValueOrThrow(CurrentStep()));
    writer->Flush();
  }
  if (writer != nullptr && options.save_summaries_secs > 0) {
    // Before anything else runs the session: it looks at its observer without a lock.
    if (summary_op.is_valid()) StartSummaries();
    if (global_step.is_valid()) {
      auto last = std::make_shared<std::pair<int64_t, int64_t>>(MonotonicNanos(), ValueOrThrow(CurrentStep()));
      StartTimer("step counter", options.save_summaries_secs, [this, last]() -> Status {
        ASSIGN_OR_RETURN(int64_t step, CurrentStep());
        const int64_t now = MonotonicNanos();
        const double seconds = static_cast<double>(now - last->first) * 1e-9;
        const int64_t steps = step - last->second;
        *last = {now, step};
        if (steps <= 0 || seconds <= 0) return OkStatus();  // just started, or restored to an earlier step
        const float rate = static_cast<float>(static_cast<double>(steps) / seconds);
        LogInfo("global_step/sec: ", rate);
        writer->AddScalar("global_step/sec", rate, step);
        writer->Flush();
        return OkStatus();
      });
    }
  }
  if (saver != nullptr && options.save_model_secs > 0) {
    StartTimer("checkpoints", options.save_model_secs, [this] {
      std::string path;
      return SaveNow(&path);
    });
  }
}

Supervisor::Supervisor(Graph& graph, const SupervisorOptions& options) : state_(std::make_unique<State>(graph, options)) {
  state_->CompleteGraph();
  if (options.is_chief && !options.logdir.empty()) {
    ThrowIfError(Annotate(CreateDirectories(options.logdir), absl::StrCat("logdir ", options.logdir)));
    state_->writer = std::make_unique<FileWriter>(options.logdir);
  }
  Coordinator* coordinator = &state_->coordinator;
  state_->signal_token = StopSignal::Get().Register([coordinator] { coordinator->RequestStop(); });
  EndAfterSignal();
}

Supervisor::~Supervisor() {
  try {
    Stop();
  } catch (const Error& error) {
    LogError("at the end: ", error.status().ToString());
  }
  StopSignal::Get().Unregister(state_->signal_token);
}

Session& Supervisor::ManagedSession(const std::string& target) {
  if (state_->session != nullptr) throw Error(FailedPrecondition("the supervisor has a session already"));
  state_->manager = std::make_unique<SessionManager>(state_->graph, state_->ManagerOptions(target));
  state_->session = ValueOrThrow(state_->manager->Prepare());
  State* state = state_.get();
  state->session->state().recover = [state](const Status& lost, const std::shared_ptr<SessionConnection>& connection) { return state->Recover(lost, connection); };
  state->StartServices();
  return *state->session;
}

bool Supervisor::ShouldStop() {
  if (!state_->coordinator.ShouldStop()) return false;
  ThrowIfError(state_->coordinator.status());
  return true;
}

void Supervisor::RequestStop() { state_->coordinator.RequestStop(); }

void Supervisor::Stop() {
  if (std::exchange(state_->is_stopped, true)) return;
  state_->coordinator.RequestStop();
  Status status;
  try {
    state_->coordinator.Join(state_->options.stop_grace_secs);
  } catch (const Error& error) {
    status = error.status();
  }
  if (state_->writer != nullptr) {
    state_->writer->AddStop();
    state_->writer->Flush();
  }
  if (state_->session != nullptr) state_->session->state().Close().IgnoreError();  // tasks may have ended before
  ThrowIfError(status);
}

void Supervisor::SummaryComputed(const Tensor& summary, std::optional<int64_t> step) {
  if (state_->writer == nullptr) throw Error(FailedPrecondition("there is no summary writer: only the chief has one, and only with a logdir"));
  state_->writer->AddSummary(summary, step.has_value() ? *step : ValueOrThrow(state_->CurrentStep()));
}

std::string Supervisor::SaveNow() {
  if (!state_->options.is_chief) throw Error(FailedPrecondition("only the chief saves"));
  if (state_->saver == nullptr || state_->options.logdir.empty()) throw Error(FailedPrecondition("there is nothing to save with: no saver or no logdir"));
  if (state_->session == nullptr) throw Error(FailedPrecondition("there is no session yet"));
  std::string path;
  Status status = state_->SaveNow(&path);
  if (IsLostSession(status)) {
    // Any run makes a new session; then there is something to save again.
    status = state_->CurrentStep().status();
    if (status.ok()) status = state_->SaveNow(&path);
  }
  ThrowIfError(status);
  return path;
}

bool Supervisor::is_chief() const { return state_->options.is_chief; }
Session& Supervisor::session() {
  if (state_->session == nullptr) throw Error(FailedPrecondition("there is no session yet"));
  return *state_->session;
}
Coordinator& Supervisor::coordinator() { return state_->coordinator; }
Saver* Supervisor::saver() { return state_->saver; }
FileWriter* Supervisor::summary_writer() { return state_->writer.get(); }
const Output& Supervisor::summary_op() const { return state_->summary_op; }
std::string Supervisor::save_path() const { return state_->save_path(); }

}  // namespace tandem
