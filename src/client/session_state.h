// What is behind a Session: calls that return a status, and a backend that can be exchanged when the cluster lost its state.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/mutex.h"
#include "core/status.h"
#include "proto/config.pb.h"
#include "runtime/session_backend.h"
#include "tandem/session.h"

namespace tandem {

// One session of a backend, and how much of the graph it has.
struct SessionConnection {
  std::unique_ptr<SessionBackend> backend;
  Mutex extend_mu;
  std::atomic<size_t> sent_nodes{0};
  bool has_sent ABSL_GUARDED_BY(extend_mu) = false;
};

// Names and values of one run, checked against the graph.
struct PreparedRun {
  RunRequest request;
  std::vector<Tensor> results;  // one per fetch that the caller asked for
  std::vector<int> positions;   // of request.fetches[i] among them
};

// Fetches something of its own along with runs that feed what it needs.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // Any thread. What to fetch as well in a run that feeds these; often nothing.
  virtual std::vector<Output> BeforeRun(const RunRequest& request) = 0;
  // The values of those, after a run that succeeded.
  virtual void AfterRun(absl::Span<const Tensor> values) = 0;
};

struct Session::State {
  State(Graph& g, std::string t, SessionOptions o) : graph(g), target(std::move(t)), options(std::move(o)) {}

  Graph& graph;
  const std::string target;
  const SessionOptions options;

  // Called with the error when a run failed because tasks are gone or have lost the session (Aborted, Unavailable), and with the
  // connection that it ran on. OK: run again, on what is then the connection. Set before the first run.
  std::function<Status(const Status& lost, const std::shared_ptr<SessionConnection>& connection)> recover;

  // Sees Run, not callables. Set before the first run.
  std::shared_ptr<RunObserver> observer;

  Status Run(const tandem::RunOptions& run_options, const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds, RunMetadata* metadata,
             std::vector<Tensor>* outputs);

  // Calls `body` with a connection that has the whole graph; again after each successful recovery. Aborted and Unavailable errors
  // come back only when there is nobody to recover, or recovery failed.
  Status WithConnection(const std::function<Status(const std::shared_ptr<SessionConnection>&)>& body);

  // The current connection, made if there is none. FailedPrecondition after Close.
  StatusOr<std::shared_ptr<SessionConnection>> Connect();
  std::shared_ptr<SessionConnection> connection();
  // Takes over the connection of `other`, which has none afterwards. The old one is closed.
  void Adopt(State* other);
  Status Close();

 private:
  Status SendNewNodes(SessionConnection* connection);

  Mutex mu_;
  std::shared_ptr<SessionConnection> connection_ ABSL_GUARDED_BY(mu_);
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
};

// `value` for `output`, converted where Feed says so. InvalidArgument naming the output and both types or shapes.
StatusOr<Tensor> CheckFeed(const Output& output, const Tensor& value);

// InvalidArgument if there is no node, or one of another graph. `role` is "feed", "fetch" …
Status CheckBelongs(const Node* node, const Graph& graph, const char* role);

tensorflow::RunOptions RunOptionsProto(const RunOptions& options, int64_t session_timeout_ms);

// Whether starting over with a new session may help.
bool IsLostSession(const Status& status);

}  // namespace tandem
