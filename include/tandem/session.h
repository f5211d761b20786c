// Runs parts of a graph: in this process, or on a cluster.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "tandem/graph.h"
#include "tandem/variable.h"

namespace tandem {

// What a run shall return: a tensor, or nothing when it names an operation that just runs. Strings are "node:0" and "node".
struct Fetch {
  Fetch(const Output& o) : output(o) {}                                       // NOLINT
  Fetch(const Operation& o) : operation(o) {}                                 // NOLINT
  Fetch(const Variable& v) : output(v.value()) {}                             // NOLINT
  Fetch(const char* n) : name(n) {}                                           // NOLINT
  Fetch(std::string n) : name(std::move(n)) {}                                // NOLINT
  Output output;
  Operation operation;
  std::string name;
};

// A value in place of an output, for one run. Numbers convert as in C++ where nothing is lost but precision: int32 to int64,
// float or double, and double to float.
struct Feed {
  Feed(const Output& o, Tensor v) : output(o), value(std::move(v)) {}
  Feed(std::string n, Tensor v) : name(std::move(n)), value(std::move(v)) {}
  Feed(const char* n, Tensor v) : name(n), value(std::move(v)) {}
  Output output;
  std::string name;
  Tensor value;
};

struct RunOptions {
  int64_t timeout_ms = 0;  // 0: no limit, or the session's. After it: DeadlineExceeded
  bool trace = false;      // fills RunMetadata
};

struct RunMetadata {
  std::string serialized;  // proto RunMetadata, as TensorFlow's tools read it; empty unless traced
};

struct SessionOptions {
  int64_t operation_timeout_ms = 0;          // of every run that sets none; 0: no limit
  std::vector<std::string> device_filters = {};  // remote: only tasks that match are waited for and used, "/job:ps" …
  bool allow_soft_placement = false;
};

struct DeviceInfo {
  std::string name;  // /job:ps/replica:0/task:0/device:CPU:0
  std::string type;
  int64_t memory_limit = 0;
  uint64_t incarnation = 0;  // another one after the task was restarted
};

class Callable;
class SessionBackend;

// Any thread may run it, many at a time, while nobody changes the graph. All methods throw tandem::Error.
// `target`: "" runs in this process; "grpc://host:port" on the cluster of that server. Nothing is sent before the first run.
class Session {
 public:
  explicit Session(Graph& graph, const std::string& target = "", const SessionOptions& options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // One tensor per fetch, in order; without a value (has_value()) for operations. Nodes that were added to the graph since the
  // last run are sent first.
  std::vector<Tensor> Run(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds = {});
  std::vector<Tensor> Run(const RunOptions& options, const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds = {}, RunMetadata* metadata = nullptr);

  // Prepares a run whose feeds, fetches and targets stay the same. The session must outlive it.
  Callable MakeCallable(const std::vector<Output>& feeds, const std::vector<Output>& fetches, const std::vector<Operation>& targets = {},
                        const RunOptions& options = {});

  std::vector<DeviceInfo> ListDevices();
  // Cancels what runs. Later calls throw FailedPrecondition. The destructor closes too, without throwing.
  void Close();

  // Drops what containers hold (variables, queues …) on all tasks of the target's cluster, the default ones if none is named, and
  // ends its sessions: their next run throws Aborted.
  static void Reset(const std::string& target, const std::vector<std::string>& containers = {});

  Graph& graph() const;
  const std::string& target() const;

  struct State;
  State& state() { return *state_; }  // for Tandem itself: src/client/session_state.h

 private:
  friend class Callable;
  std::unique_ptr<State> state_;
};

// A run prepared once, then given values by position.
class Callable {
 public:
  Callable();  // none: must not be run
  ~Callable();
  Callable(Callable&& other) noexcept;
  Callable& operator=(Callable&& other) noexcept;

  // One tensor per feed in, one per fetch out. Any thread, many at a time.
  std::vector<Tensor> Run(absl::Span<const Tensor> feeds = {});
  std::vector<Tensor> Run(std::initializer_list<Tensor> feeds) { return Run(absl::Span<const Tensor>(feeds.begin(), feeds.size())); }

 private:
  friend class Session;
  struct State;
  explicit Callable(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tandem
