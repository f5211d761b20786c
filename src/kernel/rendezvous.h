// Hands each tensor of a step from the op that makes it to the op that needs it, in this task or another.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/status.h"
#include "tandem/tensor.h"

namespace tandem {

// The name of one transfer of a step, made once per _Send/_Recv node:
// "<src device>;<src incarnation, 16 hex digits>;<dst device>;<edge name>;<frame>:<iteration>".
struct EdgeKey {
  std::string full;
  uint64_t hash = 0;  // of `full`
  std::string src_device, dst_device, edge_name;
  uint64_t src_incarnation = 0;

  static EdgeKey Make(absl::string_view src_device, uint64_t src_incarnation, absl::string_view dst_device, absl::string_view edge_name);
  // InvalidArgument "Invalid  rendezvous key: …" unless it has five parts with two full device names.
  static StatusOr<EdgeKey> Parse(absl::string_view full);
};

// Giver and taker may come in either order, from any thread.
class Rendezvous {
 public:
  using RecvDone = std::function<void(const Status& status, const Tensor& value, bool is_dead)>;

  virtual ~Rendezvous() = default;

  // Returns at once. AlreadyExists if this key was sent before in this step; the reason if aborted.
  virtual Status Send(const EdgeKey& key, const Tensor& value, bool is_dead) = 0;
  // `done` runs exactly once: with the tensor, or with the status given to Abort(). It may run before Recv returns.
  virtual void Recv(const EdgeKey& key, RecvDone done) = 0;
  // Ends all waiting and later calls with `reason`, which is not OK.
  virtual void Abort(const Status& reason) = 0;
};

}  // namespace tandem
