// The file `checkpoint` of a directory: which checkpoints it has, and which is the newest.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/status.h"

namespace tandem {

struct CheckpointState {
  std::string model_checkpoint_path;                    // the newest
  std::vector<std::string> all_model_checkpoint_paths;  // oldest first, the newest last
  std::vector<double> all_model_checkpoint_timestamps;  // seconds since 1970, one per path; or none
  double last_preserved_timestamp = 0;                  // 0: not recorded
};

std::string CheckpointStatePath(absl::string_view directory, absl::string_view file_name = "checkpoint");

// nullopt without the file, and with a warning if it is not such a text. InvalidArgument if it names no checkpoint: an empty file
// must not look like a fresh start. Relative paths are joined with the directory.
StatusOr<std::optional<CheckpointState>> ReadCheckpointState(absl::string_view directory, absl::string_view file_name = "checkpoint");

// Readers see the old file or the new one. Paths inside the directory are stored relative to it, so that it may be moved. The newest
// is added to the list if it is not its last one.
Status WriteCheckpointState(absl::string_view directory, const CheckpointState& state, absl::string_view file_name = "checkpoint");

// Whether there is a checkpoint with this prefix: <prefix>.index (V2), or <prefix> itself (V1).
bool CheckpointExists(absl::string_view prefix);

// The newest checkpoint of a directory, or "" if there is none, also (with a line in the log) if the one that is named is gone.
StatusOr<std::string> LatestCheckpoint(absl::string_view directory, absl::string_view file_name = "checkpoint");

}  // namespace tandem
