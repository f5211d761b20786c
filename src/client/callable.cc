#include <algorithm>
#include <utility>

#include "client/session_state.h"
#include "tandem/error.h"
#include "tandem/session.h"

namespace tandem {

struct Callable::State {
  Session::State* session = nullptr;
  tensorflow::CallableOptions options;
  std::vector<Output> feeds, fetches;
  Mutex mu;
  // The handle belongs to this connection; another connection needs one of its own.
  std::shared_ptr<SessionConnection> connection ABSL_GUARDED_BY(mu);
  int64_t handle ABSL_GUARDED_BY(mu) = 0;

  StatusOr<int64_t> HandleFor(const std::shared_ptr<SessionConnection>& current) {
    MutexLock lock(&mu);
    if (connection != current) {
      ASSIGN_OR_RETURN(handle, current->backend->MakeCallable(options));
      connection = current;
    }
    return handle;
  }
};

Callable::Callable() = default;
Callable::Callable(std::unique_ptr<State> state) : state_(std::move(state)) {}
Callable::Callable(Callable&& other) noexcept = default;
Callable& Callable::operator=(Callable&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Callable::~Callable() {
  if (state_ == nullptr) return;
  MutexLock lock(&state_->mu);
  // A session that is closed or lost has dropped its callables already.
  if (state_->connection != nullptr) state_->connection->backend->ReleaseCallable(state_->handle).IgnoreError();
}

Callable Session::MakeCallable(const std::vector<Output>& feeds, const std::vector<Output>& fetches, const std::vector<Operation>& targets, const RunOptions& options) {
  auto state = std::make_unique<Callable::State>();
  state->session = state_.get();
  state->feeds = feeds;
  state->fetches = fetches;
  for (const Output& feed : feeds) {
    ThrowIfError(CheckBelongs(feed.node, graph(), "feed"));
    state->options.add_feed(feed.name());
  }
  for (const Output& fetch : fetches) {
    ThrowIfError(CheckBelongs(fetch.node, graph(), "fetch"));
    // What is fed is its own result.
    if (std::find(feeds.begin(), feeds.end(), fetch) == feeds.end()) state->options.add_fetch(fetch.name());
  }
  for (const Operation& target : targets) {
    ThrowIfError(CheckBelongs(target.node, graph(), "target"));
    state->options.add_target(target.name());
  }
  *state->options.mutable_run_options() = RunOptionsProto(options, state_->options.operation_timeout_ms);
  ThrowIfError(state_->WithConnection([&](const std::shared_ptr<SessionConnection>& connection) { return state->HandleFor(connection).status(); }));
  return Callable(std::move(state));
}

std::vector<Tensor> Callable::Run(absl::Span<const Tensor> feeds) {
  if (state_ == nullptr) throw Error(FailedPrecondition("the callable is empty"));
  if (feeds.size() != state_->feeds.size()) {
    throw Error(InvalidArgument("the callable was made for ", state_->feeds.size(), " feeds and got ", feeds.size()));
  }
  std::vector<Tensor> values;
  values.reserve(feeds.size());
  for (size_t i = 0; i < feeds.size(); ++i) values.push_back(ValueOrThrow(CheckFeed(state_->feeds[i], feeds[i])));
  std::vector<Tensor> outputs;
  ThrowIfError(state_->session->WithConnection([&](const std::shared_ptr<SessionConnection>& connection) -> Status {
    ASSIGN_OR_RETURN(int64_t handle, state_->HandleFor(connection));
    outputs.clear();
    return connection->backend->RunCallable(handle, values, &outputs, nullptr);
  }));
  for (size_t i = 0; i < state_->fetches.size() && outputs.size() < state_->fetches.size(); ++i) {
    auto fed = std::find(state_->feeds.begin(), state_->feeds.end(), state_->fetches[i]);
    if (fed != state_->feeds.end()) outputs.insert(outputs.begin() + i, values[fed - state_->feeds.begin()]);
  }
  return outputs;
}

}  // namespace tandem
