#include "tandem/saver.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "checkpoint/bundle_reader.h"
#include "checkpoint/checkpoint_state.h"
#include "client/session_state.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/log.h"
#include "tandem/error.h"
#include "train/meta_graph.h"
#include "train/saver_state.h"

namespace tandem {
namespace {

// "<base>.data-00000-of-00002"
bool IsDataFile(absl::string_view name, absl::string_view base) {
  if (!absl::ConsumePrefix(&name, base) || !absl::ConsumePrefix(&name, ".data-")) return false;
  const size_t of = name.find("-of-");
  if (of == absl::string_view::npos) return false;
  auto is_number = [](absl::string_view text) { return text.size() >= 5 && std::all_of(text.begin(), text.end(), absl::ascii_isdigit); };
  return is_number(name.substr(0, of)) && is_number(name.substr(of + 4));
}

void RemoveIfThere(const std::string& path) {
  if (!FileExists(path)) return;
  Status removed = RemoveFile(path);
  if (!removed.ok()) LogWarning("cannot delete an old checkpoint: ", removed.ToString());
}

// All files of a checkpoint, and nothing else: the path is no pattern.
void DeleteCheckpoint(const std::string& path) {
  const absl::string_view base = BaseName(path);
  StatusOr<std::vector<std::string>> names = ListDirectory(DirectoryOf(path).empty() ? "." : DirectoryOf(path));
  RemoveIfThere(path + ".index");
  if (names.ok()) {
    for (const std::string& name : *names) {
      if (IsDataFile(name, base)) RemoveIfThere(JoinPath(DirectoryOf(path), name));
    }
  }
  RemoveIfThere(path + ".meta");
}

// What the files themselves say is wrong, with names that the restoring op does not know. OK if they are not on this machine.
Status ExplainFiles(const std::string& path, const std::vector<Variable>& variables, bool read_values) {
  StatusOr<std::unique_ptr<BundleReader>> reader = BundleReader::Open(path);
  if (!reader.ok()) return absl::IsNotFound(reader.status()) ? OkStatus() : reader.status();
  std::vector<std::string> missing;
  for (const Variable& variable : variables) {
    if (!(*reader)->Contains(variable.name())) {
      missing.push_back(variable.name());
      continue;
    }
    ASSIGN_OR_RETURN(const BundleEntry* entry, (*reader)->Lookup(variable.name()));
    if (entry->dtype != variable.dtype()) {
      return InvalidArgument("it has ", variable.name(), " with type ", DataTypeName(entry->dtype), ", the graph wants ", DataTypeName(variable.dtype()));
    }
    if (!variable.shape().Allows(entry->shape)) {
      return InvalidArgument("it has ", variable.name(), " with shape ", entry->shape.ToString(), ", the graph wants ", variable.shape().ToString());
    }
    if (read_values) RETURN_IF_ERROR(Annotate((*reader)->Read(variable.name()).status(), absl::StrCat("tensor ", variable.name())));
  }
  if (!missing.empty()) return NotFound("it has no ", absl::StrJoin(missing, ", "));
  return OkStatus();
}

}  // namespace

Saver::State::State(Graph& g, const SaverOptions& o) : graph(g), options(o), next_preserved_s_(NowSeconds() + o.keep_checkpoint_every_n_hours * 3600) {
  if (options.variables.empty()) options.variables = Variable::Collection(graph, kGlobalVariables);
  if (options.variables.empty()) throw Error(InvalidArgument("there are no variables to save"));
  nodes = AddSaverGraph(graph, options.variables, options.sharded);
}

Status Saver::State::WriteMetaGraph(const std::string& path) {
  const std::string meta = MakeMetaGraph(graph, &nodes,
                                         {.max_to_keep = options.max_to_keep, .keep_checkpoint_every_n_hours = options.keep_checkpoint_every_n_hours, .sharded = options.sharded});
  return WriteFileAtomically(path + ".meta", meta);
}

Status Saver::State::Record(const std::string& path) {
  kept_.erase(std::remove_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.path == path; }), kept_.end());
  if (options.max_to_keep <= 0) kept_.clear();  // nothing is deleted, so nothing needs to be known
  kept_.push_back({path, NowSeconds()});
  std::vector<std::string> obsolete;
  while (options.max_to_keep > 0 && static_cast<int>(kept_.size()) > options.max_to_keep) {
    const Kept oldest = kept_.front();
    kept_.erase(kept_.begin());
    if (oldest.time_s > next_preserved_s_) {
      next_preserved_s_ += options.keep_checkpoint_every_n_hours * 3600;
    } else {
      obsolete.push_back(oldest.path);
    }
  }
  CheckpointState state;
  state.model_checkpoint_path = path;
  state.all_model_checkpoint_paths = paths();
  RETURN_IF_ERROR(WriteCheckpointState(DirectoryOf(path).empty() ? "." : DirectoryOf(path), state));
  // Only now: the state file never names what is not there.
  for (const std::string& old : obsolete) DeleteCheckpoint(old);
  return OkStatus();
}

StatusOr<std::string> Saver::State::Save(Session& session, const std::string& prefix, std::optional<int64_t> step) {
  const std::string path = step.has_value() ? absl::StrCat(prefix, "-", *step) : prefix;
  std::vector<Tensor> outputs;
  RETURN_IF_ERROR(Annotate(session.state().Run({}, {nodes.saved}, {{nodes.filename, Tensor(path)}}, nullptr, &outputs), absl::StrCat("saving ", path)));
  RETURN_IF_ERROR(WriteMetaGraph(path));
  RETURN_IF_ERROR(Record(path));
  return path;
}

Status Saver::State::Restore(Session& session, const std::string& path) {
  const std::string what = absl::StrCat("restoring ", path);
  RETURN_IF_ERROR(Annotate(ExplainFiles(path, options.variables, /*read_values=*/false), what));
  std::vector<Tensor> outputs;
  Status status = session.state().Run({}, {nodes.restore}, {{nodes.filename, Tensor(path)}}, nullptr, &outputs);
  if (absl::IsDataLoss(status)) {
    // The op says which file is damaged; which tensor is affected, the file says.
    Status explained = ExplainFiles(path, options.variables, /*read_values=*/true);
    if (!explained.ok()) status = explained;
  }
  return Annotate(status, what);
}

Status Saver::State::RecoverLastCheckpoints(const std::string& directory) {
  ASSIGN_OR_RETURN(std::optional<CheckpointState> state, ReadCheckpointState(directory));
  kept_.clear();
  if (!state.has_value()) return OkStatus();
  for (size_t i = 0; i < state->all_model_checkpoint_paths.size(); ++i) {
    const std::string& path = state->all_model_checkpoint_paths[i];
    if (!CheckpointExists(path)) continue;
    const bool has_time = i < state->all_model_checkpoint_timestamps.size();
    kept_.push_back({path, has_time ? state->all_model_checkpoint_timestamps[i] : NowSeconds()});
  }
  return OkStatus();
}

std::vector<std::string> Saver::State::paths() const {
  std::vector<std::string> list;
  for (const Kept& kept : kept_) list.push_back(kept.path);
  return list;
}

Saver::Saver(Graph& graph, const SaverOptions& options) : state_(std::make_unique<State>(graph, options)) {}
Saver::~Saver() = default;
std::string Saver::Save(Session& session, const std::string& prefix, std::optional<int64_t> step) { return ValueOrThrow(state_->Save(session, prefix, step)); }
void Saver::Restore(Session& session, const std::string& path) { ThrowIfError(state_->Restore(session, path)); }
std::vector<std::string> Saver::last_checkpoints() const { return state_->paths(); }
void Saver::RecoverLastCheckpoints(const std::string& directory) { ThrowIfError(state_->RecoverLastCheckpoints(directory)); }
std::string Saver::LatestCheckpoint(const std::string& directory) { return ValueOrThrow(tandem::LatestCheckpoint(directory)); }

}  // namespace tandem
