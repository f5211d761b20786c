// The rendezvous of one step inside one task.
#pragma once

#include <deque>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "core/mutex.h"
#include "kernel/rendezvous.h"

namespace tandem {

class LocalRendezvous : public Rendezvous {
 public:
  LocalRendezvous() = default;
  // Ends who still waits with Aborted.
  ~LocalRendezvous() override;

  Status Send(const EdgeKey& key, const Tensor& value, bool is_dead) override;
  // A value is handed out once: a second Recv of the key waits for a second Send.
  void Recv(const EdgeKey& key, RecvDone done) override;
  void Abort(const Status& reason) override;

  // OK unless aborted.
  Status status() const;
  // Whether nothing is stored and nobody waits.
  bool is_empty() const;

 private:
  struct Item {
    std::string key;
    bool has_value = false;
    Tensor value;
    bool is_dead = false;
    std::deque<RecvDone> waiting;
  };

  mutable Mutex mu_;
  Status reason_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<uint64_t, Item> items_ ABSL_GUARDED_BY(mu_);  // by EdgeKey::hash
};

}  // namespace tandem
