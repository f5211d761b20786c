#include <gtest/gtest.h>

#include "graph/node.h"
#include "tandem/device_setter.h"
#include "tandem/ops.h"
#include "tandem/variable.h"

namespace tandem {
namespace {

std::string DeviceOf(const Output& output) { return output.node->device; }

TEST(ReplicaDeviceSetter, GivesVariablesToThePsTasksInTurn) {
  Graph g;
  DeviceScope device(g, ReplicaDeviceSetter(2, "/job:ps", "/job:worker/task:3"));
  Variable a(g, Zeros(g, {2}), "a"), b(g, Zeros(g, {2}), "b"), c(g, Zeros(g, {2}), "c", {.use_resource = false});
  EXPECT_EQ(DeviceOf(a.handle()), "/job:ps/task:0");
  EXPECT_EQ(DeviceOf(b.handle()), "/job:ps/task:1");
  EXPECT_EQ(DeviceOf(c.handle()), "/job:ps/task:0");
  EXPECT_EQ(DeviceOf(a.value()), "/job:ps/task:0");
  EXPECT_EQ(DeviceOf(a * b), "/job:worker/task:3");
}

TEST(ReplicaDeviceSetter, BalancesBytesIfAskedTo) {
  Graph g;
  DeviceScope device(g, ReplicaDeviceSetter(2, "/job:ps", "/job:worker/task:0", PlacementStrategy::kGreedyByBytes));
  Variable big(g, Zeros(g, {100}), "big"), small(g, Zeros(g, {2}), "small"), next(g, Zeros(g, {3}), "next");
  EXPECT_EQ(DeviceOf(big.handle()), "/job:ps/task:0");
  EXPECT_EQ(DeviceOf(small.handle()), "/job:ps/task:1");
  EXPECT_EQ(DeviceOf(next.handle()), "/job:ps/task:1");
}

TEST(ReplicaDeviceSetter, LeavesAJobThatIsAskedForByName) {
  Graph g;
  DeviceScope device(g, ReplicaDeviceSetter(1, "/job:ps", "/job:worker/task:0"));
  DeviceScope inner(g, "/job:worker/task:1");
  Variable v(g, Zeros(g, {2}), "v");
  EXPECT_EQ(DeviceOf(v.handle()), "/job:worker/task:1");
}

TEST(ReplicaDeviceSetter, KeepsLocalVariablesOnTheWorker) {
  Graph g;
  DeviceScope device(g, ReplicaDeviceSetter(1, "/job:ps", "/job:worker/task:0"));
  Variable v(g, Zeros(g, {2}), "v", {.is_local = true});
  EXPECT_EQ(DeviceOf(v.handle()), "/job:worker/task:0");
}

TEST(ReplicaDeviceSetter, DoesNothingWithoutACluster) {
  Graph g;
  DeviceScope device(g, ReplicaDeviceSetter(ClusterConfig()));
  Variable v(g, Zeros(g, {2}), "v");
  EXPECT_EQ(DeviceOf(v.handle()), "");
}

}  // namespace
}  // namespace tandem
