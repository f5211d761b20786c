// Decides which task holds which variable.
#pragma once

#include <string>
#include <vector>

#include "tandem/cluster_config.h"
#include "tandem/graph.h"

namespace tandem {

enum class PlacementStrategy {
  kRoundRobin,     // one after the other, in the order in which variables are made, as TensorFlow does
  kGreedyByBytes,  // each where the fewest bytes are so far
};

// For DeviceScope: variables go to the ps tasks, everything else to this worker. What updates a variable follows it. Empty
// devices without ps tasks. All workers must make their variables in the same order.
DeviceFunction ReplicaDeviceSetter(const ClusterConfig& config, PlacementStrategy strategy = PlacementStrategy::kRoundRobin);
// For jobs of other names: `ps_tasks` tasks of `ps_device` ("/job:ps").
DeviceFunction ReplicaDeviceSetter(int ps_tasks, const std::string& ps_device, const std::string& worker_device,
                                   PlacementStrategy strategy = PlacementStrategy::kRoundRobin);

}  // namespace tandem
