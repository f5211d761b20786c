// The prepared steps of a session, by the names of their feeds, fetches and targets.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "cluster/prepared_step.h"
#include "core/mutex.h"

namespace tandem {

// In the order of the request: another order is another signature.
struct StepNames {
  absl::InlinedVector<absl::string_view, 8> feeds, fetches, targets;

  uint64_t Hash() const;
};

// Thread-safe.
class StepCache {
 public:
  using StepOr = StatusOr<std::shared_ptr<const PreparedStep>>;
  using Done = std::function<void(const StepOr& step)>;
  struct OwnedNames {
    std::vector<std::string> feeds, fetches, targets;
  };
  // Makes a step; `built` is called exactly once, maybe later.
  using Build = std::function<void(std::shared_ptr<const OwnedNames> names, Done built)>;

  // Null if the step is not there, or not yet.
  std::shared_ptr<const PreparedStep> Find(const StepNames& names);
  // `done` gets the step, at once or when `build` has made it. Concurrent callers wait for one `build`. A failure is not remembered.
  void FindOrBuild(const StepNames& names, const Build& build, Done done);

 private:
  struct Entry {
    std::shared_ptr<const OwnedNames> names;
    std::shared_ptr<const PreparedStep> step;  // null while it is being made
    std::vector<Done> waiting;
  };
  Entry* FindEntry(const StepNames& names, uint64_t hash) ABSL_SHARED_LOCKS_REQUIRED(mu_);

  Mutex mu_;
  absl::flat_hash_map<uint64_t, std::vector<std::unique_ptr<Entry>>> entries_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tandem
