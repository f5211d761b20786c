#include "runtime/local_rendezvous.h"

#include <utility>
#include <vector>

namespace tandem {
namespace {

// Two names of one step with the same 64-bit hash: not to be expected, but not to be confused either.
Status HashCollision(const std::string& a, const std::string& b) {
  return Internal("the rendezvous keys ", a, " and ", b, " have the same hash");
}

}  // namespace

LocalRendezvous::~LocalRendezvous() { Abort(MarkDerived(Aborted("the step has ended"))); }

Status LocalRendezvous::Send(const EdgeKey& key, const Tensor& value, bool is_dead) {
  RecvDone done;
  {
    MutexLock lock(&mu_);
    if (!reason_.ok()) return reason_;
    auto [found, is_new] = items_.try_emplace(key.hash);
    Item& item = found->second;
    if (is_new) {
      item.key = key.full;
    } else if (item.key != key.full) {
      return HashCollision(item.key, key.full);
    }
    if (item.waiting.empty()) {
      if (item.has_value) return AlreadyExists("Duplicated send: ", key.full);
      item.has_value = true;
      item.value = value;
      item.is_dead = is_dead;
      return OkStatus();
    }
    done = std::move(item.waiting.front());
    item.waiting.pop_front();
    if (item.waiting.empty()) items_.erase(found);
  }
  done(OkStatus(), value, is_dead);
  return OkStatus();
}

void LocalRendezvous::Recv(const EdgeKey& key, RecvDone done) {
  Status status;
  Tensor value;
  bool is_dead = false;
  {
    MutexLock lock(&mu_);
    status = reason_;
    if (status.ok()) {
      auto [found, is_new] = items_.try_emplace(key.hash);
      Item& item = found->second;
      if (is_new) {
        item.key = key.full;
      } else if (item.key != key.full) {
        status = HashCollision(item.key, key.full);
      }
      if (status.ok() && !item.has_value) {
        item.waiting.push_back(std::move(done));
        return;
      }
      if (status.ok()) {
        value = std::move(item.value);
        is_dead = item.is_dead;
        items_.erase(found);
      }
    }
  }
  done(status, value, is_dead);
}

void LocalRendezvous::Abort(const Status& reason) {
  absl::flat_hash_map<uint64_t, Item> items;
  {
    MutexLock lock(&mu_);
    if (!reason_.ok()) return;
    reason_ = reason;
    items.swap(items_);
  }
  for (auto& [hash, item] : items) {
    for (RecvDone& done : item.waiting) done(reason, Tensor(), false);
  }
}

Status LocalRendezvous::status() const {
  MutexLock lock(&mu_);
  return reason_;
}

bool LocalRendezvous::is_empty() const {
  MutexLock lock(&mu_);
  return items_.empty();
}

}  // namespace tandem
