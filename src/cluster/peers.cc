#include "cluster/peers.h"

#include <utility>

#include "cluster/grpc_data_channel.h"

namespace tandem {

StatusOr<Peers::Peer*> Peers::Find(absl::string_view task) {
  {
    absl::ReaderMutexLock lock(&mu_);
    auto found = peers_.find(task);
    if (found != peers_.end()) return found->second.get();
  }
  TaskName name;
  if (!ParseTaskName(task, &name)) return InvalidArgument("\"", task, "\" does not name a task");
  ASSIGN_OR_RETURN(std::string address, cluster_.Address(name));
  RpcChannel* rpc = client_->Channel(address);
  MutexLock lock(&mu_);
  std::unique_ptr<Peer>& peer = peers_[task];
  if (peer == nullptr) peer = std::make_unique<Peer>(Peer{rpc, std::make_unique<GrpcDataChannel>(std::string(task), rpc)});
  return peer.get();
}

StatusOr<DataChannel*> Peers::Channel(absl::string_view task) {
  ASSIGN_OR_RETURN(Peer * peer, Find(task));
  return peer->channel.get();
}

StatusOr<RpcChannel*> Peers::Rpc(absl::string_view task) {
  ASSIGN_OR_RETURN(Peer * peer, Find(task));
  return peer->rpc;
}

}  // namespace tandem
