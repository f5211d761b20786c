// A step that the client feeds and fetches in portions.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "cluster/step_run.h"
#include "core/mutex.h"
#include "graph/partition.h"

namespace tandem {

// What may be fed and fetched, by name, and what each fetch needs.
struct PartialSpec {
  struct Feed {
    std::string name;
    EdgeKey key;  // empty if no node needs it
  };
  struct Fetch {
    std::string name;
    EdgeKey key;
    std::vector<int> feeds;  // that it depends on, indices in `feeds`
  };
  std::vector<Feed> feeds;
  std::vector<Fetch> fetches;

  static StatusOr<PartialSpec> Make(const StepGraph& step, const StepPartitions& partitions, absl::Span<const std::string> feed_names,
                                    absl::Span<const std::string> fetch_names, absl::Span<const int> fetch_index);
};

// Thread-safe; the portions of one run may overlap.
class PartialRun : public std::enable_shared_from_this<PartialRun> {
 public:
  explicit PartialRun(PartialSpec spec) : spec_(std::move(spec)), is_fed_(spec_.feeds.size()), is_fetched_(spec_.fetches.size()) {}

  // The step, made with StepOptions::in_portions, whose end is told by StepEnded.
  void Begin(std::shared_ptr<StepRun> run);
  void StepEnded(const Status& status);

  // The values in the order of `fetches`. `is_last`: everything was fed and fetched, and the step has ended.
  using Done = std::function<void(const Status& status, absl::Span<const Tensor> values, bool is_last)>;
  // InvalidArgument, and nothing happens, for a name that was not set up, a feed or fetch that was used before, a fetch that needs more feeds.
  void Continue(absl::Span<const std::pair<std::string, Tensor>> feeds, absl::Span<const std::string> fetches, Done done);

  void Cancel(const Status& reason);

 private:
  struct Portion;
  Status Claim(absl::Span<const std::pair<std::string, Tensor>> feeds, absl::Span<const std::string> fetches, Portion* portion);
  void WhenStepEnds(std::function<void(const Status&)> done);

  const PartialSpec spec_;
  Mutex mu_;
  std::shared_ptr<StepRun> run_ ABSL_GUARDED_BY(mu_);
  std::vector<bool> is_fed_ ABSL_GUARDED_BY(mu_), is_fetched_ ABSL_GUARDED_BY(mu_);
  bool has_ended_ ABSL_GUARDED_BY(mu_) = false;
  Status status_ ABSL_GUARDED_BY(mu_);
  std::vector<std::function<void(const Status&)>> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tandem
