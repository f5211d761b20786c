#include "tandem/monitored_session.h"

#include <algorithm>

#include "client/session_state.h"
#include "core/file.h"
#include "core/log.h"
#include "tandem/coordinator.h"
#include "tandem/error.h"
#include "train/saver_state.h"
#include "train/session_manager.h"
#include "train/stop_signal.h"
#include "client/local_tasks.h"

namespace tandem {

struct MonitoredSession::State {
  State(Graph& g, const MonitoredSessionOptions& o) : graph(g), options(o) {}

  Graph& graph;
  const MonitoredSessionOptions options;
  HookList hooks;
  std::unique_ptr<Saver> saver;
  std::shared_ptr<FileWriter> writer;
  std::unique_ptr<SessionManager> manager;
  std::unique_ptr<Session> session;
  Coordinator coordinator;
  int signal_token = 0;
  bool has_failed = false, is_closed = false;

  void AddChiefHooks();
  void Open();
  // After a loss: hooks hear of the new session as they did of the first.
  void Reopen(const Status& lost);
  std::vector<Tensor> RunOnce(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds);
};

void MonitoredSession::State::AddChiefHooks() {
  if (!options.is_chief) return;
  hooks.insert(hooks.end(), options.chief_only_hooks.begin(), options.chief_only_hooks.end());
  if (options.checkpoint_dir.empty()) return;
  ThrowIfError(Annotate(CreateDirectories(options.checkpoint_dir), absl::StrCat("checkpoint_dir ", options.checkpoint_dir)));
  writer = std::make_shared<FileWriter>(options.checkpoint_dir);
  auto is_on = [](const Interval& interval) { return interval.steps > 0 || interval.secs > 0; };
  if (is_on(options.log_step_count)) hooks.push_back(std::make_shared<StepCounterHook>(writer, options.log_step_count));
  if (is_on(options.save_summaries)) hooks.push_back(std::make_shared<SummarySaverHook>(writer, options.save_summaries));
  if (is_on(options.save_checkpoint)) hooks.push_back(std::make_shared<CheckpointSaverHook>(options.checkpoint_dir, saver.get(), options.save_checkpoint));
}

void MonitoredSession::State::Open() {
  Variable step = GlobalStep(graph);
  hooks = options.hooks;
  saver = std::make_unique<Saver>(graph, SaverOptions{.max_to_keep = options.max_to_keep});
  AddChiefHooks();
  for (const auto& hook : hooks) hook->Begin(graph);

  SessionManagerOptions manager_options;
  manager_options.target = options.target;
  manager_options.session = TrainingSessionOptions(graph, options.target, options.session);
  manager_options.is_chief = options.is_chief;
  manager_options.init_op = GlobalVariablesInitializer(graph);
  manager_options.ready_op = ReportUninitializedVariables(graph, Variable::Collection(graph, kGlobalVariables));
  if (!graph.Collection(kLocalVariables).empty()) {
    manager_options.local_init_op = LocalVariablesInitializer(graph);
    manager_options.ready_for_local_init_op = manager_options.ready_op;
  }
  manager_options.saver = saver.get();
  manager_options.checkpoint_dir = options.checkpoint_dir;
  manager_options.recovery_wait_secs = options.recovery_wait_secs;
  manager_options.max_wait_secs = options.max_wait_secs;
  if (std::optional<LocalTask> local = FindLocalTask(options.target); local.has_value() && local->wait_s > 0) {
    manager_options.max_wait_secs = std::min(manager_options.max_wait_secs, local->wait_s);
  }
  manager_options.should_stop = [this] { return coordinator.ShouldStop(); };
  manager = std::make_unique<SessionManager>(graph, std::move(manager_options));
  session = ValueOrThrow(manager->Prepare());
  if (writer != nullptr) {
    writer->AddGraph(graph);
    writer->AddStart(session->Run({step})[0].scalar<int64_t>());
  }
  for (const auto& hook : hooks) hook->AfterCreateSession(*session);
}

void MonitoredSession::State::Reopen(const Status& lost) {
  LogWarning("lost the session: ", lost.ToString());
  std::unique_ptr<Session> fresh = ValueOrThrow(manager->Recover());
  session->state().Adopt(&fresh->state());
  LogInfo("going on with a new session");
  for (const auto& hook : hooks) hook->AfterCreateSession(*session);
}

std::vector<Tensor> MonitoredSession::State::RunOnce(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds) {
  RunContext context(*session);
  std::vector<Fetch> all = fetches;
  std::vector<size_t> begins;
  for (const auto& hook : hooks) {
    begins.push_back(all.size());
    std::vector<Fetch> more = hook->BeforeRun(context);
    all.insert(all.end(), more.begin(), more.end());
  }
  std::vector<Tensor> outputs = session->Run(all, feeds);
  for (size_t i = 0; i < hooks.size(); ++i) {
    const size_t end = i + 1 < begins.size() ? begins[i + 1] : outputs.size();
    hooks[i]->AfterRun(context, std::vector<Tensor>(outputs.begin() + begins[i], outputs.begin() + end));
  }
  if (context.is_stop_requested()) coordinator.RequestStop();
  outputs.resize(fetches.size());
  return outputs;
}

MonitoredSession::MonitoredSession(Graph& graph, const MonitoredSessionOptions& options) : state_(std::make_unique<State>(graph, options)) {
  Coordinator* coordinator = &state_->coordinator;
  state_->signal_token = StopSignal::Get().Register([coordinator] { coordinator->RequestStop(); });
  EndAfterSignal();
  try {
    state_->Open();
  } catch (...) {
    StopSignal::Get().Unregister(state_->signal_token);
    throw;
  }
}

MonitoredSession::~MonitoredSession() {
  try {
    Close();
  } catch (const Error& error) {
    LogError("at the end: ", error.status().ToString());
  }
  StopSignal::Get().Unregister(state_->signal_token);
}

bool MonitoredSession::ShouldStop() { return state_->coordinator.ShouldStop(); }

std::vector<Tensor> MonitoredSession::Run(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds) {
  if (state_->is_closed) throw Error(FailedPrecondition("the session is closed"));
  while (true) {
    try {
      return state_->RunOnce(fetches, feeds);
    } catch (const Error& error) {
      if (!IsLostSession(error.status()) || ShouldStop()) {
        state_->has_failed = true;
        throw;
      }
      state_->Reopen(error.status());
    }
  }
}

Session& MonitoredSession::session() { return *state_->session; }

void MonitoredSession::Close() {
  if (std::exchange(state_->is_closed, true)) return;
  state_->coordinator.RequestStop();
  if (!state_->has_failed) {
    for (const auto& hook : state_->hooks) hook->End(*state_->session);
  }
  if (state_->writer != nullptr) {
    state_->writer->AddStop();
    state_->writer->Flush();
  }
  state_->session->state().Close().IgnoreError();  // tasks may have ended before
}

}  // namespace tandem
