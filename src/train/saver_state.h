// What is behind a Saver: the same with a status instead of exceptions.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/status.h"
#include "tandem/saver.h"
#include "train/saver_graph.h"

namespace tandem {

struct Saver::State {
  State(Graph& g, const SaverOptions& o);

  Graph& graph;
  SaverOptions options;  // with all variables listed
  SaverGraph nodes;

  StatusOr<std::string> Save(Session& session, const std::string& prefix, std::optional<int64_t> step);
  Status Restore(Session& session, const std::string& path);
  Status RecoverLastCheckpoints(const std::string& directory);

  std::vector<std::string> paths() const;

 private:
  struct Kept {
    std::string path;
    double time_s;  // when it was written, since 1970
  };

  Status WriteMetaGraph(const std::string& path);
  // Names `path` as the newest in the state file, and deletes what is too many.
  Status Record(const std::string& path);

  std::vector<Kept> kept_;  // oldest first
  double next_preserved_s_;
};

}  // namespace tandem
