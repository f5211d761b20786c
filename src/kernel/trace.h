// What a traced step did and when. Filled by the executor, turned into StepStats by the worker.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/mutex.h"
#include "tandem/tensor.h"

namespace tandem {

class StepTrace {
 public:
  struct NodeRecord {
    std::string device;      // full name
    std::string node_name;
    std::string label;       // "name = Op(input1, input2)"
    int64_t start_nanos;     // since 1970
    int64_t end_nanos;
    uint32_t thread_id;
    std::vector<std::pair<DataType, Shape>> outputs;
  };

  void Add(NodeRecord record) {
    MutexLock lock(&mu_);
    records_.push_back(std::move(record));
  }
  std::vector<NodeRecord> Take() {
    MutexLock lock(&mu_);
    return std::move(records_);
  }

 private:
  Mutex mu_;
  std::vector<NodeRecord> records_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tandem
