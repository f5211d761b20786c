// Summaries whose values only the training loop has.
#pragma once

#include <string>
#include <vector>

#include "client/session_state.h"
#include "core/mutex.h"
#include "tandem/summary.h"
#include "tandem/variable.h"

namespace tandem {

// Names of the placeholders that must be fed before `output` can be fetched.
std::vector<std::string> PlaceholdersBefore(const Output& output);

// Fetches the summaries with a run of the training loop that feeds all of `needed`, every `interval_s`, and writes them.
class SummaryObserver : public RunObserver {
 public:
  SummaryObserver(const Output& summary_op, const Variable& global_step, std::vector<std::string> needed, double interval_s, FileWriter* writer)
      : summary_op_(summary_op), global_step_(global_step), needed_(std::move(needed)), interval_s_(interval_s), writer_(writer) {}

  std::vector<Output> BeforeRun(const RunRequest& request) override;
  void AfterRun(absl::Span<const Tensor> values) override;

 private:
  const Output summary_op_;
  const Variable global_step_;
  const std::vector<std::string> needed_;
  const double interval_s_;
  FileWriter* const writer_;
  Mutex mu_;
  int64_t next_nanos_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace tandem
