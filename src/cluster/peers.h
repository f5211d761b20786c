// The other tasks of a cluster, by name.
#pragma once

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "cluster/cluster_spec.h"
#include "cluster/data_channel.h"
#include "cluster/rpc_client.h"
#include "core/mutex.h"

namespace tandem {

// Thread-safe. Connections are shared by all that reach the same address through one RpcClient.
class Peers {
 public:
  Peers(ClusterSpec cluster, RpcClient* client) : cluster_(std::move(cluster)), client_(client) {}

  const ClusterSpec& cluster() const { return cluster_; }
  // `task` is "/job:ps/replica:0/task:0". InvalidArgument if the cluster has no such task. The result lives as long as this object.
  StatusOr<DataChannel*> Channel(absl::string_view task);
  StatusOr<RpcChannel*> Rpc(absl::string_view task);

 private:
  struct Peer {
    RpcChannel* rpc;
    std::unique_ptr<DataChannel> channel;
  };
  StatusOr<Peer*> Find(absl::string_view task);

  const ClusterSpec cluster_;
  RpcClient* const client_;
  Mutex mu_;
  absl::flat_hash_map<std::string, std::unique_ptr<Peer>> peers_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tandem
