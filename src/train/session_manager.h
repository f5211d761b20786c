// Brings a session to the point where training can start: the model has its values.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/status.h"
#include "tandem/saver.h"
#include "tandem/session.h"

namespace tandem {

struct SessionManagerOptions {
  std::string target;
  SessionOptions session;
  bool is_chief = true;
  Operation init_op;
  std::function<void(Session&)> init_fn;
  Output ready_op;
  Operation local_init_op;         // may be invalid
  Output ready_for_local_init_op;  // may be invalid
  Saver* saver = nullptr;          // may be null
  std::string checkpoint_dir;      // empty: never restores
  double recovery_wait_secs = 30;
  double max_wait_secs = 7200;
  std::function<bool()> should_stop;  // asked while waiting
};

class SessionManager {
 public:
  SessionManager(Graph& graph, SessionManagerOptions options) : graph_(graph), options_(std::move(options)) {}

  // Blocks until the model is ready. The chief restores the newest checkpoint, or initialises if there is none; the others wait for
  // it. DeadlineExceeded, naming what is missing, after max_wait_secs; Cancelled when asked to stop. A chief that cannot restore fails:
  // it never starts from zero over a checkpoint.
  StatusOr<std::unique_ptr<Session>> Prepare();

  // The same after tasks were lost. A chief whose model has kept its values (only the session was lost) does not roll it back.
  StatusOr<std::unique_ptr<Session>> Recover();

 private:
  class Wait;
  class Watchdog;

  // With a new session for each attempt, as long as attempts fail because tasks are away.
  StatusOr<std::unique_ptr<Session>> PrepareAgainAndAgain(bool keeps_values);
  // One attempt. `keeps_values`: a chief whose model is ready leaves it as it is.
  Status MakeReady(Session& session, bool keeps_values, Wait& wait);
  Status InitializeOrRestore(Session& session);
  Status RunLocalInit(Session& session, bool* is_done);
  // Names of variables without a value; empty when ready.
  StatusOr<std::vector<std::string>> Missing(Session& session, const Output& op);

  Graph& graph_;
  const SessionManagerOptions options_;
};

}  // namespace tandem
