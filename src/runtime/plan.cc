// Running a plan: the loop over a segment, and the hand-over between segments.
#include "runtime/plan.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/synchronization/notification.h"
#include "core/clock.h"
#include "runtime/plan_body.h"

namespace tandem {

// One run of a plan. Reused: a warm step allocates nothing of its own.
struct Plan::Step {
  explicit Step(Body* plan)
      : body(plan), slots(plan->slot_count), pending(new std::atomic<int32_t>[plan->segments.size()]), async(plan->async_count), fetches(plan->fetches.size()) {
    for (const auto& [slot, value] : plan->constants) slots[slot].tensor = value;
  }

  struct Async {
    KernelContext context;
    std::atomic<int> state{kStarting};
  };
  static constexpr int kStarting = 0, kEndedInStart = 1, kStarted = 2;
  using Ready = absl::InlinedVector<int32_t, 32>;

  Body* const body;
  std::vector<Value> slots;
  std::unique_ptr<std::atomic<int32_t>[]> pending;  // by segment: predecessors that have not ended
  std::vector<Async> async;
  std::vector<Tensor> fetches;
  StepContext* context = nullptr;
  Done done;
  Cancellation::Token token = Cancellation::kNoToken;
  std::atomic<int32_t> open_segments{0};
  std::atomic<bool> has_failed{false};
  Mutex mu;
  Status status ABSL_GUARDED_BY(mu);

  // Runs these segments, and those that thereby become ready, on this thread. Nothing of *this may be used afterwards.
  void Run(Ready ready) {
    while (!ready.empty()) {
      const int32_t s = ready.back();
      ready.pop_back();
      const Segment& segment = body->segments[s];
      if (segment.is_async) {
        if (!StartAsync(s)) continue;
      } else {
        for (int32_t i = segment.begin; i < segment.end; ++i) {
          if (has_failed.load(std::memory_order_relaxed)) break;
          RunNode(body->nodes[i]);
        }
      }
      if (EndSegment(segment, &ready)) return;
    }
  }

  // True if that was the last one; the step is over then.
  bool EndSegment(const Segment& segment, Ready* ready) {
    for (int32_t next : segment.successors) {
      if (pending[next].fetch_sub(1, std::memory_order_acq_rel) == 1) ready->push_back(next);
    }
    if (open_segments.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
    End();
    return true;
  }

  Status Prepare(const PlanNode& node) {
    for (int32_t slot : node.checked_refs) {
      if (!slots[slot].ref->is_initialized()) return Uninitialized(slot);
    }
    for (const Dereference& edge : node.dereferences) {
      slots[edge.value_slot].tensor = slots[edge.ref_slot].ref->Snapshot();
      if (!slots[edge.value_slot].tensor.has_value()) return Uninitialized(edge.ref_slot);
    }
    return OkStatus();
  }

  Status Uninitialized(int32_t slot) { return FailedPrecondition("Attempting to use uninitialized value ", slots[slot].ref->name()); }

  void RunNode(const PlanNode& node) {
    const int64_t start = context->trace == nullptr ? 0 : NowNanos();
    Status status = node.dereferences.empty() && node.checked_refs.empty() ? OkStatus() : Prepare(node);
    if (status.ok()) {
      KernelContext ctx(&node.info, slots.data(), context);
      status = node.kernel->Run(ctx);
    }
    if (context->trace != nullptr) Record(node, start);
    if (!status.ok()) Fail(WithNode(status, node.info.name));
    for (int32_t slot : node.freed_slots) slots[slot].tensor = Tensor();
  }

  // False if the node goes on waiting: its segment then ends on the thread that calls done.
  bool StartAsync(int32_t s) {
    const PlanNode& node = body->nodes[body->segments[s].begin];
    if (has_failed.load(std::memory_order_relaxed)) return true;
    Status status = Prepare(node);
    if (!status.ok()) {
      Fail(WithNode(status, node.info.name));
      return true;
    }
    Async& run = async[node.async_index];
    run.context = KernelContext(&node.info, slots.data(), context);
    run.state.store(kStarting, std::memory_order_relaxed);
    node.async->Start(run.context, [this, s](const Status& result) { EndAsync(s, result); });
    return run.state.exchange(kStarted, std::memory_order_acq_rel) == kEndedInStart;
  }

  void EndAsync(int32_t s, const Status& result) {
    const PlanNode& node = body->nodes[body->segments[s].begin];
    if (context->trace != nullptr) Record(node, NowNanos());
    if (!result.ok()) Fail(WithNode(result, node.info.name));
    for (int32_t slot : node.freed_slots) slots[slot].tensor = Tensor();
    // If Start has not returned yet, the thread that is in it goes on with the segment: a chain of values that are there already
    // must not become a chain of calls.
    if (async[node.async_index].state.exchange(kEndedInStart, std::memory_order_acq_rel) == kStarting) return;
    Ready ready;
    if (!EndSegment(body->segments[s], &ready)) Run(std::move(ready));
  }

  void Fail(const Status& error) {
    bool is_first;
    {
      MutexLock lock(&mu);
      KeepRootError(&status, error);
      is_first = !has_failed.exchange(true, std::memory_order_acq_rel);
    }
    if (!is_first) return;
    if (context->rendezvous != nullptr) context->rendezvous->Abort(error);
    context->cancellation->Cancel(MarkDerived(Cancelled("the step has failed: ", error.message())));
  }

  void Record(const PlanNode& node, int64_t start) {
    if (node.info.op == "_Send" || node.info.op == "_Recv" || node.info.op == "_HostSend" || node.info.op == "_HostRecv") return;
    StepTrace::NodeRecord record{node.info.device->name(), node.info.name, node.label, start, NowNanos(), static_cast<uint32_t>(syscall(SYS_gettid)), {}};
    for (size_t i = 0; i < node.info.output_types.size(); ++i) {
      const Tensor& output = slots[node.info.first_output_slot + i].tensor;
      if (output.has_value()) record.outputs.emplace_back(output.dtype(), output.shape());
    }
    context->trace->Add(std::move(record));
  }

  void End() {
    Status result;
    {
      MutexLock lock(&mu);
      result = std::exchange(status, OkStatus());
    }
    if (token != Cancellation::kNoToken) context->cancellation->DeregisterAndWait(std::exchange(token, Cancellation::kNoToken));
    if (result.ok()) {
      for (size_t i = 0; i < body->fetches.size(); ++i) {
        Value& value = slots[body->fetches[i].slot];
        fetches[i] = body->fetches[i].is_ref ? value.ref->Snapshot() : value.tensor;
        if (!fetches[i].has_value()) {
          KeepRootError(&result, body->fetches[i].is_ref ? Uninitialized(body->fetches[i].slot)
                                                         : Internal("nothing was computed for fetch ", body->fetches[i].name));
        }
      }
    }
    if (!result.ok()) {
      // Nodes that did not run have freed nothing.
      for (Value& value : slots) value = Value();
      for (const auto& [slot, value] : body->constants) slots[slot].tensor = value;
    } else {
      for (int32_t slot : body->slots_freed_at_end) slots[slot] = Value();
    }
    Done finished = std::move(done);
    done = nullptr;
    absl::InlinedVector<Tensor, 8> values;
    for (Tensor& fetch : fetches) values.push_back(std::move(fetch));
    {
      MutexLock lock(&body->mu);
      body->idle.push_back(std::unique_ptr<Step>(this));
    }
    // Last: whoever waits for it may destroy the plan.
    finished(result, absl::MakeSpan(values));
  }
};

Plan::Body::Body() = default;
Plan::Body::~Body() = default;

Plan::Plan(std::unique_ptr<Body> body) : body_(std::move(body)) {}
Plan::~Plan() = default;

void Plan::RunAsync(absl::Span<const Tensor> feeds, StepContext* context, Done done) {
  Body& body = *body_;
  if (feeds.size() != body.feed_slots.size()) {
    done(InvalidArgument("the run takes ", body.feed_slots.size(), " values, ", feeds.size(), " were fed"), {});
    return;
  }
  for (size_t i = 0; i < feeds.size(); ++i) {
    if (feeds[i].dtype() == body.feed_types[i]) continue;
    done(InvalidArgument("a value of type ", DataTypeName(feeds[i].dtype()), " is fed for ", body.feed_names[i], ", which has type ",
                         DataTypeName(body.feed_types[i])),
         {});
    return;
  }
  std::unique_ptr<Step> owned;
  {
    MutexLock lock(&body.mu);
    if (!body.idle.empty()) {
      owned = std::move(body.idle.back());
      body.idle.pop_back();
    }
  }
  if (owned == nullptr) owned = std::make_unique<Step>(&body);
  Step* step = owned.release();  // End() takes it back
  step->context = context;
  step->done = std::move(done);
  step->has_failed.store(false, std::memory_order_relaxed);
  for (size_t i = 0; i < feeds.size(); ++i) step->slots[body.feed_slots[i]].tensor = feeds[i];
  for (size_t s = 0; s < body.segments.size(); ++s) step->pending[s].store(body.segments[s].predecessors, std::memory_order_relaxed);
  // One more than there are, so that the step cannot end before all roots have started.
  step->open_segments.store(static_cast<int32_t>(body.segments.size()) + 1, std::memory_order_release);
  if (context->cancellation->is_cancelled()) {
    step->Fail(context->cancellation->reason());
  } else if (body.has_recv && context->rendezvous != nullptr) {
    Cancellation* cancellation = context->cancellation;
    Rendezvous* rendezvous = context->rendezvous;
    step->token = cancellation->Register([cancellation, rendezvous] { rendezvous->Abort(MarkDerived(cancellation->reason())); });
  }
  Step::Ready ready;
  for (auto root = body.roots.rbegin(); root != body.roots.rend(); ++root) ready.push_back(*root);
  step->Run(std::move(ready));
  if (step->open_segments.fetch_sub(1, std::memory_order_acq_rel) == 1) step->End();
}

Status Plan::Run(absl::Span<const Tensor> feeds, StepContext* step, std::vector<Tensor>* fetches) {
  struct Result {
    absl::Notification is_done;
    Status status;
    std::vector<Tensor>* fetches;
  } result{{}, {}, fetches};
  RunAsync(feeds, step, [&result](const Status& status, absl::Span<Tensor> values) {
    result.status = status;
    result.fetches->resize(values.size());
    for (size_t i = 0; i < values.size(); ++i) (*result.fetches)[i] = std::move(values[i]);
    result.is_done.Notify();
  });
  result.is_done.WaitForNotification();
  return result.status;
}

int Plan::node_count() const { return static_cast<int>(body_->nodes.size()); }
int Plan::segment_count() const { return static_cast<int>(body_->segments.size()); }
bool Plan::has_async_nodes() const { return body_->async_count > 0; }

}  // namespace tandem
