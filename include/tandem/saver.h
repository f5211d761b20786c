// Writes variables to checkpoints, and reads them back. The files are TensorFlow's (V2).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tandem/graph.h"
#include "tandem/session.h"
#include "tandem/variable.h"

namespace tandem {

struct SaverOptions {
  std::vector<Variable> variables = {};      // all in kGlobalVariables if empty
  int max_to_keep = 5;                       // older checkpoints are deleted; 0: none is
  double keep_checkpoint_every_n_hours = 10000;  // … but one for every n hours stays
  // Each task that holds variables writes and reads its own part; all then need the same file system. Otherwise the task of the
  // session does it all.
  bool sharded = false;
};

// Made once, after all variables; adds nodes named save/… to the graph. One thread at a time. Methods throw tandem::Error.
class Saver {
 public:
  explicit Saver(Graph& graph, const SaverOptions& options = {});
  ~Saver();
  Saver(const Saver&) = delete;

  // Writes <prefix>, or <prefix>-<step>, with a .meta file beside it that holds the graph, and names it in the directory's state
  // file ("checkpoint"). Returns the path. A checkpoint is either whole or not there.
  std::string Save(Session& session, const std::string& prefix, std::optional<int64_t> step = std::nullopt);
  // NotFound if there is no such checkpoint or a variable is missing in it, DataLoss naming file and tensor if it is damaged,
  // InvalidArgument naming the variable if shapes or types differ. Each names the checkpoint.
  void Restore(Session& session, const std::string& path);

  // The newest checkpoint that the state file of `directory` names; "" without one, or if that checkpoint is gone (see the log).
  // InvalidArgument if the state file is empty.
  static std::string LatestCheckpoint(const std::string& directory);

  // Checkpoints that this saver knows, oldest first. RecoverLastCheckpoints takes over those of an earlier run, so that they count
  // for max_to_keep.
  std::vector<std::string> last_checkpoints() const;
  void RecoverLastCheckpoints(const std::string& directory);

  struct State;
  State& state() { return *state_; }  // for Tandem itself

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tandem
