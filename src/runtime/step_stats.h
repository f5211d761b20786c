// Traces as TensorFlow's StepStats, which its timeline and TensorBoard read.
#pragma once

#include <vector>

#include "kernel/trace.h"

namespace tensorflow {
class StepStats;
}  // namespace tensorflow

namespace tandem {

// Adds one DeviceStepStats per device that is among the records.
void AddStepStats(const std::vector<StepTrace::NodeRecord>& records, tensorflow::StepStats* stats);

}  // namespace tandem
