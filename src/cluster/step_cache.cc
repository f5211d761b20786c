#include "cluster/step_cache.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"

namespace tandem {
namespace {

bool Same(absl::Span<const absl::string_view> a, const std::vector<std::string>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

}  // namespace

uint64_t StepNames::Hash() const {
  return absl::HashOf(absl::Span<const absl::string_view>(feeds), absl::Span<const absl::string_view>(fetches), absl::Span<const absl::string_view>(targets));
}

StepCache::Entry* StepCache::FindEntry(const StepNames& names, uint64_t hash) {
  auto found = entries_.find(hash);
  if (found == entries_.end()) return nullptr;
  for (const auto& entry : found->second) {
    if (Same(names.feeds, entry->names->feeds) && Same(names.fetches, entry->names->fetches) && Same(names.targets, entry->names->targets)) return entry.get();
  }
  return nullptr;
}

std::shared_ptr<const PreparedStep> StepCache::Find(const StepNames& names) {
  const uint64_t hash = names.Hash();
  absl::ReaderMutexLock lock(&mu_);
  const Entry* entry = FindEntry(names, hash);
  return entry == nullptr ? nullptr : entry->step;
}

void StepCache::FindOrBuild(const StepNames& names, const Build& build, Done done) {
  const uint64_t hash = names.Hash();
  std::shared_ptr<const PreparedStep> ready;
  std::shared_ptr<const OwnedNames> owned;
  Entry* entry;
  {
    MutexLock lock(&mu_);
    entry = FindEntry(names, hash);
    if (entry != nullptr && entry->step != nullptr) {
      ready = entry->step;
    } else if (entry != nullptr) {
      entry->waiting.push_back(std::move(done));
      return;
    } else {
      auto copy = [](const auto& views) { return std::vector<std::string>(views.begin(), views.end()); };
      owned = std::make_shared<OwnedNames>(OwnedNames{copy(names.feeds), copy(names.fetches), copy(names.targets)});
      entry = entries_[hash].emplace_back(std::make_unique<Entry>(Entry{owned, nullptr, {}})).get();
      entry->waiting.push_back(std::move(done));
    }
  }
  if (ready != nullptr) return done(ready);
  build(owned, [this, hash, entry](const StepOr& step) {
    std::vector<Done> waiting;
    std::unique_ptr<Entry> dropped;
    {
      MutexLock lock(&mu_);
      waiting.swap(entry->waiting);
      if (step.ok()) {
        entry->step = *step;
      } else {
        auto& list = entries_[hash];
        auto found = std::find_if(list.begin(), list.end(), [entry](const auto& other) { return other.get() == entry; });
        dropped = std::move(*found);
        list.erase(found);
      }
    }
    for (Done& done : waiting) done(step);
  });
}

}  // namespace tandem
