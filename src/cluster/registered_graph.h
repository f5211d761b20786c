// A part of a step's graph, made ready to run on this task.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "core/mutex.h"
#include "runtime/device_set.h"
#include "runtime/plan.h"

namespace tensorflow {
class GraphDef;
}  // namespace tensorflow

namespace tandem {

// What comes in by RunGraph.send and goes out by recv_key (the _Recv and _Send nodes marked client_terminated) is known by position.
class RegisteredGraph {
 public:
  // `kernels` must outlive the result. Errors as of ImportGraph and Plan::Make.
  static StatusOr<std::shared_ptr<RegisteredGraph>> Make(std::shared_ptr<const tensorflow::GraphDef> def, std::shared_ptr<DeviceSet> devices,
                                                         KernelCache* kernels);

  // By full rendezvous key.
  const std::vector<std::string>& feed_keys() const { return feed_keys_; }
  const std::vector<std::string>& fetch_keys() const { return fetch_keys_; }
  int FindFeed(absl::string_view key) const;   // -1 if there is none
  int FindFetch(absl::string_view key) const;
  // Whether it exchanges tensors with other tasks through the step's rendezvous.
  bool has_transfers() const { return has_transfers_; }
  const tensorflow::GraphDef& def() const { return *def_; }

  // Takes all feeds, in the order of feed_keys(), and gives all fetches.
  Plan& plan() const { return *plan_; }
  // The same graph, with feeds and fetches going through the step's rendezvous too: for runs that feed in portions or not at all.
  StatusOr<Plan*> TransferPlan();

 private:
  RegisteredGraph() = default;

  std::shared_ptr<const tensorflow::GraphDef> def_;
  std::shared_ptr<DeviceSet> devices_;
  KernelCache* kernels_ = nullptr;
  std::vector<std::string> feed_keys_, fetch_keys_;
  absl::flat_hash_map<std::string, int> feeds_, fetches_;
  bool has_transfers_ = false;
  std::unique_ptr<Plan> plan_;

  Mutex mu_;
  std::unique_ptr<Plan> transfer_plan_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tandem
