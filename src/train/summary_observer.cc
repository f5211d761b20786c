#include "train/summary_observer.h"

#include <algorithm>
#include <set>

#include "core/clock.h"
#include "graph/node.h"

namespace tandem {

// Placeholders that must be fed before `output` can be fetched.
std::vector<std::string> PlaceholdersBefore(const Output& output) {
  std::vector<std::string> names;
  std::vector<const Node*> stack = {output.node};
  std::set<const Node*> seen = {output.node};
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    if (node->op_name() == "Placeholder" || node->op_name() == "PlaceholderV2") names.push_back(node->name() + ":0");
    for (const Output& input : node->inputs) {
      if (seen.insert(input.node).second) stack.push_back(input.node);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<Output> SummaryObserver::BeforeRun(const RunRequest& request) {
  auto is_fed = [&](const std::string& name) {
    return std::any_of(request.feeds.begin(), request.feeds.end(), [&](const auto& feed) { return feed.first == name; });
  };
  const int64_t now = MonotonicNanos();
  MutexLock lock(&mu_);
  if (now < next_nanos_ || !std::all_of(needed_.begin(), needed_.end(), is_fed)) return {};
  next_nanos_ = now + static_cast<int64_t>(interval_s_ * 1e9);
  if (global_step_.is_valid()) return {summary_op_, global_step_.value()};
  return {summary_op_};
}

void SummaryObserver::AfterRun(absl::Span<const Tensor> values) {
  writer_->AddSummary(values[0], values.size() > 1 ? values[1].scalar<int64_t>() : 0);
  writer_->Flush();
}

}  // namespace tandem
