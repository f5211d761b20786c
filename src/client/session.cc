#include "tandem/session.h"

#include <algorithm>
#include <utility>

#include "client/backend.h"
#include "client/session_state.h"
#include "cluster/grpc_session.h"
#include "core/log.h"
#include "graph/graph_state.h"
#include "graph/node.h"
#include "proto/device.pb.h"
#include "tandem/error.h"

namespace tandem {
namespace {

StatusOr<Output> OutputOf(const Graph& graph, const Output& output, const std::string& name, const char* role) {
  if (!name.empty()) {
    StatusOr<Output> found = graph.FindOutput(name);
    return found.ok() ? found : Annotate(found.status(), absl::StrCat(role, " '", name, "'"));
  }
  RETURN_IF_ERROR(CheckBelongs(output.node, graph, role));
  return output;
}

// Names for the backend. Operations become targets and have no result; a fetch that is fed is its own result, without a run.
Status Prepare(const Graph& graph, const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds, PreparedRun* run) {
  run->results.resize(fetches.size());
  for (const Feed& feed : feeds) {
    ASSIGN_OR_RETURN(Output output, OutputOf(graph, feed.output, feed.name, "feed"));
    ASSIGN_OR_RETURN(Tensor value, CheckFeed(output, feed.value));
    run->request.feeds.emplace_back(output.name(), std::move(value));
  }
  for (size_t i = 0; i < fetches.size(); ++i) {
    const Fetch& fetch = fetches[i];
    const bool is_operation = fetch.operation.is_valid() || (!fetch.name.empty() && fetch.name.find(':') == std::string::npos);
    if (is_operation) {
      Node* node = fetch.operation.is_valid() ? fetch.operation.node : graph.FindNode(fetch.name);
      if (node == nullptr) return NotFound("fetch '", fetch.name, "': there is no such node in the graph");
      RETURN_IF_ERROR(CheckBelongs(node, graph, "fetch"));
      run->request.targets.push_back(node->name());
      continue;
    }
    ASSIGN_OR_RETURN(Output output, OutputOf(graph, fetch.output, fetch.name, "fetch"));
    std::string name = output.name();
    auto fed = std::find_if(run->request.feeds.begin(), run->request.feeds.end(), [&](const auto& feed) { return feed.first == name; });
    if (fed != run->request.feeds.end()) {
      run->results[i] = fed->second;
      continue;
    }
    run->request.fetches.push_back(std::move(name));
    run->positions.push_back(static_cast<int>(i));
  }
  return OkStatus();
}

}  // namespace

Status CheckBelongs(const Node* node, const Graph& graph, const char* role) {
  if (node == nullptr) return InvalidArgument("a ", role, " is not set");
  if (node->graph != &graph) return InvalidArgument(role, " '", node->name(), "' belongs to another graph than the session");
  return OkStatus();
}

tensorflow::RunOptions RunOptionsProto(const RunOptions& options, int64_t session_timeout_ms) {
  tensorflow::RunOptions proto;
  proto.set_timeout_in_ms(options.timeout_ms != 0 ? options.timeout_ms : session_timeout_ms);
  if (options.trace) proto.set_trace_level(tensorflow::RunOptions::FULL_TRACE);
  return proto;
}

bool IsLostSession(const Status& status) { return absl::IsAborted(status) || absl::IsUnavailable(status); }

std::shared_ptr<SessionConnection> Session::State::connection() {
  MutexLock lock(&mu_);
  return connection_;
}

StatusOr<std::shared_ptr<SessionConnection>> Session::State::Connect() {
  MutexLock lock(&mu_);
  if (is_closed_) return FailedPrecondition("Session is closed.");
  if (connection_ == nullptr) {
    ASSIGN_OR_RETURN(std::unique_ptr<SessionBackend> backend, MakeBackend(target, options));
    connection_ = std::make_shared<SessionConnection>();
    connection_->backend = std::move(backend);
  }
  return connection_;
}

Status Session::State::SendNewNodes(SessionConnection* connection) {
  const size_t node_count = graph.nodes().size();
  if (connection->sent_nodes.load(std::memory_order_acquire) == node_count && node_count != 0) return OkStatus();
  MutexLock lock(&connection->extend_mu);
  const size_t sent = connection->sent_nodes.load(std::memory_order_relaxed);
  if (sent == node_count && connection->has_sent) return OkStatus();
  tensorflow::GraphDef def;
  ExportGraph(graph, static_cast<int>(sent), &def);
  RETURN_IF_ERROR(connection->backend->Extend(def));
  connection->has_sent = true;
  connection->sent_nodes.store(node_count, std::memory_order_release);
  return OkStatus();
}

Status Session::State::WithConnection(const std::function<Status(const std::shared_ptr<SessionConnection>&)>& body) {
  while (true) {
    ASSIGN_OR_RETURN(std::shared_ptr<SessionConnection> connection, Connect());
    Status status = SendNewNodes(connection.get());
    if (status.ok()) status = body(connection);
    if (!IsLostSession(status) || recover == nullptr) return status;
    RETURN_IF_ERROR(recover(status, connection));
  }
}

void Session::State::Adopt(State* other) {
  std::shared_ptr<SessionConnection> taken, old;
  {
    MutexLock lock(&other->mu_);
    taken = std::move(other->connection_);
    other->connection_ = nullptr;
  }
  {
    MutexLock lock(&mu_);
    old = std::exchange(connection_, is_closed_ ? nullptr : taken);
    if (is_closed_ && old == nullptr) old = taken;
  }
  // The tasks behind it may be gone; what they say to the end of their session does not matter.
  if (old != nullptr && old->backend != nullptr) old->backend->Close().IgnoreError();
}

Status Session::State::Close() {
  std::shared_ptr<SessionConnection> old;
  {
    MutexLock lock(&mu_);
    is_closed_ = true;
    old = std::exchange(connection_, nullptr);
  }
  return old == nullptr ? OkStatus() : old->backend->Close();
}

Status Session::State::Run(const tandem::RunOptions& run_options, const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds, RunMetadata* metadata,
                           std::vector<Tensor>* outputs) {
  PreparedRun run;
  RETURN_IF_ERROR(Prepare(graph, fetches, feeds, &run));
  const tensorflow::RunOptions proto = RunOptionsProto(run_options, options.operation_timeout_ms);
  tensorflow::RunMetadata metadata_proto;
  run.request.options = &proto;
  run.request.metadata = metadata != nullptr ? &metadata_proto : nullptr;
  std::vector<Output> extra;
  if (observer != nullptr) extra = observer->BeforeRun(run.request);
  for (const Output& output : extra) run.request.fetches.push_back(output.name());
  std::vector<Tensor> fetched;
  RETURN_IF_ERROR(WithConnection([&](const std::shared_ptr<SessionConnection>& connection) {
    fetched.clear();
    return connection->backend->Run(run.request, &fetched);
  }));
  if (fetched.size() != run.request.fetches.size()) return Internal("the session returned ", fetched.size(), " tensors for ", run.request.fetches.size(), " fetches");
  if (!extra.empty()) observer->AfterRun(absl::MakeConstSpan(fetched).subspan(run.positions.size()));
  fetched.resize(run.positions.size());
  for (size_t i = 0; i < fetched.size(); ++i) run.results[run.positions[i]] = std::move(fetched[i]);
  *outputs = std::move(run.results);
  if (metadata != nullptr) metadata->serialized = metadata_proto.SerializeAsString();
  return OkStatus();
}

Session::Session(Graph& graph, const std::string& target, const SessionOptions& options) : state_(std::make_unique<State>(graph, target, options)) {}

Session::~Session() {
  Status status = state_->Close();
  if (!status.ok()) LogDebug("closing the session: ", status.ToString());
}

std::vector<Tensor> Session::Run(const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds) { return Run(RunOptions(), fetches, feeds); }

std::vector<Tensor> Session::Run(const RunOptions& options, const std::vector<Fetch>& fetches, const std::vector<Feed>& feeds, RunMetadata* metadata) {
  std::vector<Tensor> outputs;
  ThrowIfError(state_->Run(options, fetches, feeds, metadata, &outputs));
  return outputs;
}

std::vector<DeviceInfo> Session::ListDevices() {
  std::vector<tensorflow::DeviceAttributes> protos;
  ThrowIfError(state_->WithConnection([&](const std::shared_ptr<SessionConnection>& connection) {
    protos.clear();
    return connection->backend->ListDevices(&protos);
  }));
  std::vector<DeviceInfo> devices;
  for (const tensorflow::DeviceAttributes& proto : protos) {
    devices.push_back({proto.name(), proto.device_type(), proto.memory_limit(), proto.incarnation()});
  }
  return devices;
}

void Session::Close() { ThrowIfError(state_->Close()); }
void Session::Reset(const std::string& target, const std::vector<std::string>& containers) { ThrowIfError(ResetMaster(target, containers)); }
Graph& Session::graph() const { return state_->graph; }
const std::string& Session::target() const { return state_->target; }

}  // namespace tandem
