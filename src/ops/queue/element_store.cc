#include "ops/queue/element_store.h"

#include <deque>
#include <map>
#include <utility>

#include "core/philox.h"
#include "core/random.h"

namespace tandem {
namespace {

class FifoStore : public ElementStore {
 public:
  int64_t size() const override { return static_cast<int64_t>(elements_.size()); }
  void Put(Tuple element) override { elements_.push_back(std::move(element)); }
  Tuple Take() override {
    Tuple first = std::move(elements_.front());
    elements_.pop_front();
    return first;
  }
  void Return(std::vector<Tuple> elements) override {
    for (auto it = elements.rbegin(); it != elements.rend(); ++it) elements_.push_front(std::move(*it));
  }

 private:
  std::deque<Tuple> elements_;
};

class ShuffleStore : public ElementStore {
 public:
  ShuffleStore(uint64_t seed, uint64_t seed2) : words_(Philox(seed, seed2)) {}

  int64_t size() const override { return static_cast<int64_t>(elements_.size()); }
  void Put(Tuple element) override { elements_.push_back(std::move(element)); }
  Tuple Take() override {
    const size_t chosen = words_.Next() % elements_.size();
    std::swap(elements_[chosen], elements_.back());
    Tuple taken = std::move(elements_.back());
    elements_.pop_back();
    return taken;
  }
  void Return(std::vector<Tuple> elements) override {
    for (Tuple& element : elements) elements_.push_back(std::move(element));
  }

 private:
  PhiloxWords words_;
  std::vector<Tuple> elements_;
};

class PriorityStore : public ElementStore {
 public:
  int64_t size() const override { return static_cast<int64_t>(elements_.size()); }
  void Put(Tuple element) override {
    const int64_t priority = element[0].scalar<int64_t>();
    elements_.emplace(priority, std::move(element));  // behind those of the same priority
  }
  Tuple Take() override {
    Tuple first = std::move(elements_.begin()->second);
    elements_.erase(elements_.begin());
    return first;
  }
  void Return(std::vector<Tuple> elements) override {
    for (auto it = elements.rbegin(); it != elements.rend(); ++it) {
      const int64_t priority = (*it)[0].scalar<int64_t>();
      elements_.emplace_hint(elements_.lower_bound(priority), priority, std::move(*it));
    }
  }

 private:
  std::multimap<int64_t, Tuple> elements_;
};

}  // namespace

std::unique_ptr<ElementStore> MakeFifoStore() { return std::make_unique<FifoStore>(); }

std::unique_ptr<ElementStore> MakeShuffleStore(int64_t seed, int64_t seed2) {
  if (seed == 0 && seed2 == 0) return std::make_unique<ShuffleStore>(RandomUint64(), RandomUint64());
  return std::make_unique<ShuffleStore>(static_cast<uint64_t>(seed), static_cast<uint64_t>(seed2));
}

std::unique_ptr<ElementStore> MakePriorityStore() { return std::make_unique<PriorityStore>(); }

}  // namespace tandem
