#include "checkpoint/checkpoint_state.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "checkpoint/bundle_format.h"
#include "core/file.h"
#include "core/log.h"
#include "proto/checkpoint.pb.h"

namespace tandem {
namespace {

using google::protobuf::TextFormat;

// Keeps the first complaint of the parser, which would print them itself otherwise.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& text) override {
    if (message_.empty()) message_ = absl::StrCat("line ", line + 1, ", column ", column + 1, ": ", text);
  }
  const std::string& message() const { return message_; }

 private:
  std::string message_;
};

std::string RelativeTo(absl::string_view directory, absl::string_view path) {
  absl::string_view rest = path;
  while (absl::ConsumeSuffix(&directory, "/")) {
  }
  if (directory.empty() || !absl::ConsumePrefix(&rest, directory) || !absl::ConsumePrefix(&rest, "/")) return std::string(path);
  return std::string(rest);
}

}  // namespace

std::string CheckpointStatePath(absl::string_view directory, absl::string_view file_name) { return JoinPath(directory, file_name); }

StatusOr<std::optional<CheckpointState>> ReadCheckpointState(absl::string_view directory, absl::string_view file_name) {
  std::string path = CheckpointStatePath(directory, file_name);
  StatusOr<std::string> text = ReadWholeFile(path);
  if (text.status().code() == absl::StatusCode::kNotFound) return std::nullopt;
  RETURN_IF_ERROR(text.status());
  tensorflow::CheckpointState proto;
  FirstError error;
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(*text, &proto)) {
    LogWarning(path, " is not a checkpoint state (", error.message(), "); ignored");
    return std::nullopt;
  }
  if (proto.model_checkpoint_path().empty()) return InvalidArgument("Invalid checkpoint state loaded from ", path, ": it names no checkpoint");
  CheckpointState state;
  state.model_checkpoint_path = JoinPath(directory, proto.model_checkpoint_path());
  for (const std::string& each : proto.all_model_checkpoint_paths()) state.all_model_checkpoint_paths.push_back(JoinPath(directory, each));
  state.all_model_checkpoint_timestamps.assign(proto.all_model_checkpoint_timestamps().begin(), proto.all_model_checkpoint_timestamps().end());
  if (state.all_model_checkpoint_timestamps.size() != state.all_model_checkpoint_paths.size()) state.all_model_checkpoint_timestamps.clear();
  state.last_preserved_timestamp = proto.last_preserved_timestamp();
  return std::optional<CheckpointState>(std::move(state));
}

Status WriteCheckpointState(absl::string_view directory, const CheckpointState& state, absl::string_view file_name) {
  tensorflow::CheckpointState proto;
  std::vector<std::string> paths = state.all_model_checkpoint_paths;
  std::vector<double> timestamps = state.all_model_checkpoint_timestamps;
  if (paths.empty() || paths.back() != state.model_checkpoint_path) paths.push_back(state.model_checkpoint_path);
  if (!timestamps.empty() && timestamps.size() != paths.size()) {
    return InvalidArgument("a checkpoint state has ", paths.size(), " paths, but ", timestamps.size(), " timestamps");
  }
  proto.set_model_checkpoint_path(RelativeTo(directory, state.model_checkpoint_path));
  for (const std::string& path : paths) proto.add_all_model_checkpoint_paths(RelativeTo(directory, path));
  for (double timestamp : timestamps) proto.add_all_model_checkpoint_timestamps(timestamp);
  if (state.last_preserved_timestamp != 0) proto.set_last_preserved_timestamp(state.last_preserved_timestamp);
  std::string text;
  TextFormat::PrintToString(proto, &text);
  return WriteFileAtomically(CheckpointStatePath(directory, file_name), text);
}

bool CheckpointExists(absl::string_view prefix) { return FileExists(IndexFileName(prefix)) || (FileExists(prefix) && !IsDirectory(prefix)); }

StatusOr<std::string> LatestCheckpoint(absl::string_view directory, absl::string_view file_name) {
  ASSIGN_OR_RETURN(std::optional<CheckpointState> state, ReadCheckpointState(directory, file_name));
  if (!state.has_value()) return std::string();
  if (CheckpointExists(state->model_checkpoint_path)) return state->model_checkpoint_path;
  LogWarning(CheckpointStatePath(directory, file_name), " names ", state->model_checkpoint_path, ", which is not there");
  return std::string();
}

}  // namespace tandem
