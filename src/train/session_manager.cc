#include "train/session_manager.h"

#include <algorithm>
#include <thread>

#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "checkpoint/checkpoint_state.h"
#include "client/session_state.h"
#include "core/log.h"
#include "core/mutex.h"
#include "tandem/error.h"
#include "train/saver_state.h"

namespace tandem {
namespace {

constexpr double kFirstPauseSecs = 0.02;
constexpr double kLongestPauseSecs = 1;  // looking is cheap
constexpr double kReportSecs = 10;
constexpr absl::Duration kLookForStop = absl::Milliseconds(100);

Status RunTargets(Session& session, const std::vector<Fetch>& fetches, std::vector<Tensor>* outputs) { return session.state().Run({}, fetches, {}, nullptr, outputs); }

}  // namespace

// Pauses that grow, a line in the log every ten seconds, and an end.
class SessionManager::Wait {
 public:
  explicit Wait(const SessionManagerOptions& options) : options_(options), start_(absl::Now()), next_report_(start_ + absl::Seconds(kReportSecs)) {}

  // Cancelled or DeadlineExceeded when it is time to give up. `what` says what is waited for.
  Status GiveUp(const std::string& what) const {
    if (options_.should_stop != nullptr && options_.should_stop()) return Cancelled("stopped while waiting: ", what);
    if (waited_secs() < options_.max_wait_secs) return OkStatus();
    return DeadlineExceeded("the session was not ready after ", options_.max_wait_secs, " s: ", what);
  }

  Status Pause(const std::string& what) {
    RETURN_IF_ERROR(GiveUp(what));
    if (absl::Now() >= next_report_) {
      LogInfo("waiting for ", static_cast<int64_t>(waited_secs()), " s: ", what);
      next_report_ += absl::Seconds(kReportSecs);
    }
    absl::SleepFor(absl::Seconds(std::min(pause_, options_.max_wait_secs - waited_secs())));
    pause_ = std::min({pause_ * 1.5, kLongestPauseSecs, std::max(options_.recovery_wait_secs, kFirstPauseSecs)});
    return OkStatus();
  }

 private:
  double waited_secs() const { return absl::ToDoubleSeconds(absl::Now() - start_); }

  const SessionManagerOptions& options_;
  const absl::Time start_;
  absl::Time next_report_;
  double pause_ = kFirstPauseSecs;
};

// Closes a session whose calls wait longer than they may: for tasks that are not there, for instance.
class SessionManager::Watchdog {
 public:
  Watchdog(Session* session, const Wait* wait) : session_(session), wait_(wait), thread_([this] { Watch(); }) {}
  ~Watchdog() {
    {
      MutexLock lock(&mu_);
      is_done_ = true;
    }
    thread_.join();
  }

  // Why it closed the session; OK if it did not.
  Status reason() {
    MutexLock lock(&mu_);
    return reason_;
  }

 private:
  void Watch() {
    MutexLock lock(&mu_);
    while (!mu_.AwaitWithTimeout(absl::Condition(&is_done_), kLookForStop)) {
      reason_ = wait_->GiveUp("tasks of the cluster do not answer");
      if (reason_.ok()) continue;
      session_->state().Close().IgnoreError();  // what was running says so
      return;
    }
  }

  Session* const session_;
  const Wait* const wait_;
  Mutex mu_;
  bool is_done_ ABSL_GUARDED_BY(mu_) = false;
  Status reason_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

StatusOr<std::vector<std::string>> SessionManager::Missing(Session& session, const Output& op) {
  std::vector<Tensor> outputs;
  Status status = RunTargets(session, {op}, &outputs);
  // An op that reads a variable without a value says so by failing.
  if (absl::IsFailedPrecondition(status)) return std::vector<std::string>{std::string(status.message())};
  RETURN_IF_ERROR(status);
  if (outputs[0].dtype() != kString) return InvalidArgument("the ready op '", op.name(), "' gives ", DataTypeName(outputs[0].dtype()), ", not the names of what is missing");
  absl::Span<const std::string> names = outputs[0].values<std::string>();
  return std::vector<std::string>(names.begin(), names.end());
}

Status SessionManager::InitializeOrRestore(Session& session) {
  if (options_.saver != nullptr && !options_.checkpoint_dir.empty()) {
    ASSIGN_OR_RETURN(std::optional<CheckpointState> state, ReadCheckpointState(options_.checkpoint_dir));
    if (state.has_value()) {
      // If that checkpoint cannot be read this fails, rather than train from zero over it.
      RETURN_IF_ERROR(options_.saver->state().Restore(session, state->model_checkpoint_path));
      RETURN_IF_ERROR(options_.saver->state().RecoverLastCheckpoints(options_.checkpoint_dir));
      LogInfo("restored ", state->model_checkpoint_path);
      return OkStatus();
    }
  }
  std::vector<Tensor> outputs;
  if (options_.init_op.is_valid()) RETURN_IF_ERROR(Annotate(RunTargets(session, {options_.init_op}, &outputs), "initialising the model"));
  if (options_.init_fn != nullptr) {
    try {
      options_.init_fn(session);
    } catch (const Error& error) {
      return Annotate(error.status(), "init_fn");
    }
  }
  LogInfo("initialised the model");
  return OkStatus();
}

Status SessionManager::RunLocalInit(Session& session, bool* is_done) {
  if (*is_done) return OkStatus();
  if (options_.ready_for_local_init_op.is_valid()) {
    ASSIGN_OR_RETURN(std::vector<std::string> missing, Missing(session, options_.ready_for_local_init_op));
    if (!missing.empty()) return OkStatus();
  }
  std::vector<Tensor> outputs;
  RETURN_IF_ERROR(Annotate(RunTargets(session, {options_.local_init_op}, &outputs), "local_init_op"));
  *is_done = true;
  return OkStatus();
}

Status SessionManager::MakeReady(Session& session, bool keeps_values, Wait& wait) {
  std::vector<std::string> missing;
  if (options_.is_chief && keeps_values) {
    ASSIGN_OR_RETURN(missing, Missing(session, options_.ready_op));
    keeps_values = missing.empty();
  }
  if (options_.is_chief && !keeps_values) RETURN_IF_ERROR(InitializeOrRestore(session));
  bool is_local_done = !options_.local_init_op.is_valid();
  while (true) {
    RETURN_IF_ERROR(RunLocalInit(session, &is_local_done));
    ASSIGN_OR_RETURN(missing, Missing(session, options_.ready_op));
    if (missing.empty() && is_local_done) return OkStatus();
    const std::string what = missing.empty() ? "local_init_op is not ready to run" : absl::StrCat("no value yet for ", absl::StrJoin(missing, ", "));
    if (options_.is_chief) return FailedPrecondition("initialising or restoring did not make the model ready: ", what);
    RETURN_IF_ERROR(wait.Pause("the chief has not made the model ready: " + what));
  }
}

StatusOr<std::unique_ptr<Session>> SessionManager::PrepareAgainAndAgain(bool keeps_values) {
  Wait wait(options_);
  while (true) {
    auto session = std::make_unique<Session>(graph_, options_.target, options_.session);
    Status status;
    {
      Watchdog watchdog(session.get(), &wait);
      status = MakeReady(*session, keeps_values, wait);
      const Status reason = watchdog.reason();
      // What was running when it was stopped knows whom it was waiting for.
      if (!status.ok() && !reason.ok()) status = Status(reason.code(), absl::StrCat(reason.message(), ": ", status.message()));
    }
    if (status.ok()) return session;
    // A task that is away or has just come back: once more with a new session. Anything else waiting would not mend.
    if (!IsLostSession(status)) return status;
    session.reset();
    RETURN_IF_ERROR(wait.Pause(status.ToString()));
  }
}

StatusOr<std::unique_ptr<Session>> SessionManager::Prepare() { return PrepareAgainAndAgain(/*keeps_values=*/false); }
StatusOr<std::unique_ptr<Session>> SessionManager::Recover() { return PrepareAgainAndAgain(/*keeps_values=*/true); }

}  // namespace tandem
