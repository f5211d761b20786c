#include "cluster/partial_run.h"

#include <algorithm>

namespace tandem {
namespace {

template <typename List>
int Find(const List& list, absl::string_view name) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

// The feeds that a value depends on.
std::vector<int> FeedsBehind(const StepGraph& step, const StepGraph::Source& start) {
  std::vector<int> feeds;
  std::vector<bool> is_seen(step.nodes().size());
  std::vector<StepGraph::Source> open = {start};
  while (!open.empty()) {
    const StepGraph::Source source = open.back();
    open.pop_back();
    if (source.is_feed()) {
      if (std::find(feeds.begin(), feeds.end(), source.feed) == feeds.end()) feeds.push_back(source.feed);
    } else if (!is_seen[source.node]) {
      is_seen[source.node] = true;
      for (const StepGraph::Source& input : step.inputs(source.node)) open.push_back(input);
    }
  }
  return feeds;
}

}  // namespace

StatusOr<PartialSpec> PartialSpec::Make(const StepGraph& step, const StepPartitions& partitions, absl::Span<const std::string> feed_names,
                                        absl::Span<const std::string> fetch_names, absl::Span<const int> fetch_index) {
  PartialSpec spec;
  for (size_t i = 0; i < feed_names.size(); ++i) {
    Feed feed{feed_names[i], {}};
    if (!partitions.feed_keys[i].empty()) {
      ASSIGN_OR_RETURN(feed.key, EdgeKey::Parse(partitions.feed_keys[i]));
    }
    spec.feeds.push_back(std::move(feed));
  }
  for (size_t i = 0; i < fetch_names.size(); ++i) {
    if (Find(spec.fetches, fetch_names[i]) >= 0) continue;
    ASSIGN_OR_RETURN(EdgeKey key, EdgeKey::Parse(partitions.fetch_keys[fetch_index[i]]));
    spec.fetches.push_back({fetch_names[i], std::move(key), FeedsBehind(step, step.fetch(fetch_index[i]))});
  }
  return spec;
}

// One call: what it feeds, and what it waits for.
struct PartialRun::Portion {
  std::vector<std::pair<int, Tensor>> feeds;
  std::vector<int> fetches;
  bool is_last = false;
  std::shared_ptr<StepRun> run;
  Done done;

  Mutex mu;
  size_t left ABSL_GUARDED_BY(mu) = 0;
  Status error ABSL_GUARDED_BY(mu);
  std::vector<Tensor> values;  // each written by one receiver

  void Arrived(const Status& status) {
    {
      MutexLock lock(&mu);
      KeepRootError(&error, status);
      if (--left > 0) return;
    }
    done(error, values, is_last);
  }
};

void PartialRun::Begin(std::shared_ptr<StepRun> run) {
  {
    MutexLock lock(&mu_);
    run_ = run;
  }
  run->Start({});
}

void PartialRun::StepEnded(const Status& status) {
  std::vector<std::function<void(const Status&)>> waiting;
  std::shared_ptr<StepRun> run;  // destroyed outside of the lock
  {
    MutexLock lock(&mu_);
    has_ended_ = true;
    status_ = status;
    waiting.swap(waiting_);
    if (!status.ok()) run.swap(run_);  // else its results wait in the rendezvous to be fetched
  }
  for (auto& done : waiting) done(status);
}

void PartialRun::WhenStepEnds(std::function<void(const Status&)> done) {
  Status status;
  {
    MutexLock lock(&mu_);
    if (!has_ended_) {
      waiting_.push_back(std::move(done));
      return;
    }
    status = status_;
  }
  done(status);
}

Status PartialRun::Claim(absl::Span<const std::pair<std::string, Tensor>> feeds, absl::Span<const std::string> fetches, Portion* portion) {
  MutexLock lock(&mu_);
  if (!status_.ok()) return status_;
  if (run_ == nullptr) return InvalidArgument("Must run PartialRunSetup before performing partial runs");
  std::vector<bool> is_fed = is_fed_, is_fetched = is_fetched_;
  for (const auto& [name, value] : feeds) {
    const int feed = Find(spec_.feeds, name);
    if (feed < 0) return InvalidArgument("The feed ", name, " was not specified in partial_run_setup.");
    if (is_fed[feed]) return InvalidArgument("The feed ", name, " has already been fed.");
    is_fed[feed] = true;
    portion->feeds.emplace_back(feed, value);
  }
  for (const std::string& name : fetches) {
    const int fetch = Find(spec_.fetches, name);
    if (fetch < 0) return InvalidArgument("The fetch ", name, " was not specified in partial_run_setup.");
    if (is_fetched[fetch]) return InvalidArgument("The fetch ", name, " has already been fetched.");
    for (int feed : spec_.fetches[fetch].feeds) {
      if (!is_fed[feed]) return InvalidArgument("Fetch ", spec_.feeds[feed].name, " can't be computed from the feeds that have been fed so far.");
    }
    is_fetched[fetch] = true;
    portion->fetches.push_back(fetch);
  }
  is_fed_ = is_fed;
  is_fetched_ = is_fetched;
  auto all = [](const std::vector<bool>& flags) { return std::find(flags.begin(), flags.end(), false) == flags.end(); };
  portion->is_last = all(is_fed) && all(is_fetched);
  portion->run = run_;
  return OkStatus();
}

void PartialRun::Continue(absl::Span<const std::pair<std::string, Tensor>> feeds, absl::Span<const std::string> fetches, Done done) {
  auto portion = std::make_shared<Portion>();
  Status status = Claim(feeds, fetches, portion.get());
  if (!status.ok()) return done(status, {}, false);
  portion->done = std::move(done);
  portion->values.resize(portion->fetches.size());
  {
    MutexLock lock(&portion->mu);
    portion->left = portion->fetches.size() + 1;
  }
  const std::shared_ptr<StepState>& state = portion->run->state();
  for (auto& [feed, value] : portion->feeds) {
    const EdgeKey& key = spec_.feeds[feed].key;
    if (!key.full.empty()) state->Send(key, value, /*is_dead=*/false).IgnoreError();  // fails only in a step that has failed
  }
  for (size_t i = 0; i < portion->fetches.size(); ++i) {
    const PartialSpec::Fetch& fetch = spec_.fetches[portion->fetches[i]];
    state->RecvLocal(fetch.key, [self = shared_from_this(), portion, i, id = state->step_id(), &fetch](const Status& received, const Tensor& value, bool is_dead) {
      portion->values[i] = value;
      if (is_dead) {
        portion->Arrived(Internal("Failed to fetch outputs for step ", id, ". (Original error message: The tensor returned for ", fetch.key.full, " was not valid.)"));
      } else if (received.ok()) {
        portion->Arrived(received);
      } else {  // why, only the end of the step tells
        self->WhenStepEnds([portion, received](const Status& ended) { portion->Arrived(ended.ok() ? received : ended); });
      }
    });
  }
  if (portion->is_last) {
    WhenStepEnds([self = shared_from_this(), portion](const Status& ended) {
      portion->run->ForgetLocally();
      {
        MutexLock lock(&self->mu_);
        self->run_ = nullptr;
      }
      portion->Arrived(ended);
    });
  } else {
    portion->Arrived(OkStatus());
  }
}

void PartialRun::Cancel(const Status& reason) {
  std::shared_ptr<StepRun> run;
  {
    MutexLock lock(&mu_);
    run = run_;
  }
  if (run != nullptr) run->Cancel(reason);
}

}  // namespace tandem
