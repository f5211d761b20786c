#include "runtime/step_stats.h"

#include <map>
#include <string>

#include "proto/step_stats.pb.h"
#include "tensor/tensor_proto.h"

namespace tandem {

void AddStepStats(const std::vector<StepTrace::NodeRecord>& records, tensorflow::StepStats* stats) {
  std::map<std::string, tensorflow::DeviceStepStats*> by_device;
  for (const StepTrace::NodeRecord& record : records) {
    tensorflow::DeviceStepStats*& device = by_device[record.device];
    if (device == nullptr) {
      device = stats->add_dev_stats();
      device->set_device(record.device);
    }
    tensorflow::NodeExecStats* node = device->add_node_stats();
    const int64_t duration = record.end_nanos - record.start_nanos;
    node->set_node_name(record.node_name);
    node->set_timeline_label(record.label);
    node->set_thread_id(record.thread_id);
    node->set_all_start_micros(record.start_nanos / 1000);
    node->set_all_start_nanos(record.start_nanos);
    node->set_scheduled_micros(record.start_nanos / 1000);
    node->set_scheduled_nanos(record.start_nanos);
    node->set_op_end_rel_micros(duration / 1000);
    node->set_op_end_rel_nanos(duration);
    node->set_all_end_rel_micros(duration / 1000);
    node->set_all_end_rel_nanos(duration);
    int slot = 0;
    for (const auto& [dtype, shape] : record.outputs) {
      tensorflow::NodeOutput* output = node->add_output();
      output->set_slot(slot++);
      tensorflow::TensorDescription* description = output->mutable_tensor_description();
      description->set_dtype(static_cast<tensorflow::DataType>(dtype));
      ShapeToProto(shape, description->mutable_shape());
      const int64_t bytes = shape.num_elements() * static_cast<int64_t>(DataTypeSize(dtype));
      description->mutable_allocation_description()->set_requested_bytes(bytes);
      description->mutable_allocation_description()->set_allocated_bytes(bytes);
      description->mutable_allocation_description()->set_allocator_name("cpu");
    }
  }
}

}  // namespace tandem
