#include "ops/queue/queue.h"

#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using testing::HasSubstr;

// What a callback told; not ready until then.
struct Outcome {
  std::optional<Status> status;
  Tuple tuple;

  Queue::Done done() {
    return [this](const Status& s) { status = s; };
  }
  Queue::TupleDone tuple_done() {
    return [this](const Status& s, Tuple t) {
      status = s;
      tuple = std::move(t);
    };
  }
  bool is_ready() const { return status.has_value(); }
  // "float[] 1", the status if that is an error, "waits" while there is none.
  std::string Describe() const {
    if (!status.has_value()) return "waits";
    if (!status->ok()) return std::string(status->message());
    std::string text;
    for (const Tensor& tensor : tuple) absl::StrAppend(&text, text.empty() ? "" : "; ", tensor.ToString(10));
    return text.empty() ? "ok" : text;
  }
};

class QueueTest : public testing::Test {
 protected:
  std::shared_ptr<Queue> Make(QueueSpec spec) { return std::make_shared<Queue>("q", std::move(spec)); }
  std::shared_ptr<Queue> Floats(int64_t capacity, int64_t size = 0) {
    std::shared_ptr<Queue> queue = Make({.kind = "FIFOQueue", .types = {kFloat}, .shapes = {PartialShape::Scalar()}, .capacity = capacity});
    for (int64_t i = 0; i < size; ++i) Put(*queue, static_cast<float>(i));
    return queue;
  }
  void Put(Queue& queue, float value) {
    Outcome outcome;
    queue.Enqueue({Tensor(value)}, &step_, outcome.done());
    ASSERT_EQ(outcome.Describe(), "ok");
  }
  std::string Get(Queue& queue) {
    Outcome outcome;
    queue.Dequeue(&step_, outcome.tuple_done());
    EXPECT_TRUE(outcome.is_ready());
    return outcome.Describe();
  }
  std::string GetMany(Queue& queue, int64_t count, bool allows_fewer = false) {
    Outcome outcome;
    queue.DequeueMany(count, allows_fewer, &step_, outcome.tuple_done());
    EXPECT_TRUE(outcome.is_ready());
    return outcome.Describe();
  }
  void Close(Queue& queue) {
    Outcome outcome;
    queue.Close(/*cancels_pending=*/false, &step_, outcome.done());
    ASSERT_EQ(outcome.Describe(), "ok");
  }

  Cancellation step_;
};

TEST_F(QueueTest, FirstInFirstOut) {
  auto queue = Floats(-1, 2);
  EXPECT_EQ(Get(*queue), "float[] 0");
  EXPECT_EQ(Get(*queue), "float[] 1");
}

TEST_F(QueueTest, DequeueWaitsForAnElement) {
  auto queue = Floats(2);
  Outcome got;
  queue->Dequeue(&step_, got.tuple_done());
  EXPECT_EQ(got.Describe(), "waits");
  Put(*queue, 5);
  EXPECT_EQ(got.Describe(), "float[] 5");
}

TEST_F(QueueTest, EnqueueWaitsForRoom) {
  auto queue = Floats(1, 1);
  Outcome put;
  queue->Enqueue({Tensor(7.0f)}, &step_, put.done());
  EXPECT_EQ(put.Describe(), "waits");
  EXPECT_EQ(Get(*queue), "float[] 0");
  EXPECT_EQ(put.Describe(), "ok");
  EXPECT_EQ(Get(*queue), "float[] 7");
}

TEST_F(QueueTest, EnqueueManyGoesOnAsRoomComes) {
  auto queue = Floats(2);
  Outcome put;
  queue->EnqueueMany({Tensor(std::vector<float>{1, 2, 3})}, &step_, put.done());
  EXPECT_EQ(put.Describe(), "waits");
  EXPECT_EQ(queue->size(), 2);
  EXPECT_EQ(Get(*queue), "float[] 1");
  EXPECT_EQ(put.Describe(), "ok");
}

TEST_F(QueueTest, DequeueManyMayWantMoreThanTheCapacity) {
  auto queue = Floats(2);
  Outcome got;
  queue->DequeueMany(3, false, &step_, got.tuple_done());
  for (float value : {1.0f, 2.0f, 3.0f}) Put(*queue, value);
  EXPECT_EQ(got.Describe(), "float[3] 1 2 3");
}

TEST_F(QueueTest, ClosedQueueGivesWhatItHasThenOutOfRange) {
  auto queue = Floats(-1, 1);
  Close(*queue);
  EXPECT_EQ(Get(*queue), "float[] 0");
  Outcome got;
  queue->Dequeue(&step_, got.tuple_done());
  EXPECT_EQ(got.status->code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(got.Describe(), "FIFOQueue 'q' is closed and has insufficient elements (requested 1, current size 0)");
}

TEST_F(QueueTest, TooFewForDequeueManyStay) {
  auto queue = Floats(-1, 2);
  Outcome waiting;
  queue->DequeueMany(3, false, &step_, waiting.tuple_done());
  Close(*queue);
  EXPECT_EQ(waiting.Describe(), "FIFOQueue 'q' is closed and has insufficient elements (requested 3, current size 2)");
  EXPECT_EQ(GetMany(*queue, 5, /*allows_fewer=*/true), "float[2] 0 1");
}

TEST_F(QueueTest, DequeueUpToOfNothingIsOutOfRange) {
  auto queue = Floats(-1);
  Close(*queue);
  EXPECT_THAT(GetMany(*queue, 5, /*allows_fewer=*/true), HasSubstr("insufficient elements (requested 5, current size 0)"));
}

TEST_F(QueueTest, EnqueueOnAClosedQueueIsCancelled) {
  auto queue = Floats(-1);
  Close(*queue);
  Outcome put;
  queue->Enqueue({Tensor(1.0f)}, &step_, put.done());
  EXPECT_EQ(put.status->code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(put.Describe(), "FIFOQueue 'q' is closed.");
}

TEST_F(QueueTest, CloseLetsPendingEnqueuesEndFirst) {
  auto queue = Floats(1, 1);
  Outcome pending, close, late;
  queue->Enqueue({Tensor(7.0f)}, &step_, pending.done());
  queue->Close(false, &step_, close.done());
  queue->Enqueue({Tensor(8.0f)}, &step_, late.done());
  EXPECT_EQ(close.Describe(), "waits");
  EXPECT_FALSE(queue->is_closed());
  EXPECT_EQ(Get(*queue), "float[] 0");
  EXPECT_EQ(pending.Describe(), "ok");
  EXPECT_EQ(close.Describe(), "ok");
  EXPECT_EQ(late.Describe(), "FIFOQueue 'q' is closed.");
  EXPECT_EQ(Get(*queue), "float[] 7");
}

TEST_F(QueueTest, CloseCanCancelPendingEnqueues) {
  auto queue = Floats(1, 1);
  Outcome pending, close;
  queue->Enqueue({Tensor(7.0f)}, &step_, pending.done());
  queue->Close(/*cancels_pending=*/true, &step_, close.done());
  EXPECT_EQ(close.Describe(), "ok");
  EXPECT_EQ(pending.status->code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(queue->size(), 1);
}

TEST_F(QueueTest, SecondCloseIsCancelled) {
  auto queue = Floats(1);
  Close(*queue);
  Outcome again;
  queue->Close(false, &step_, again.done());
  EXPECT_EQ(again.Describe(), "Queue 'q' is already closed.");
}

TEST_F(QueueTest, CancelledStepEndsItsWaitAndLosesNothing) {
  auto queue = Floats(-1, 2);
  Cancellation other;
  Outcome cancelled, next;
  queue->DequeueMany(3, false, &other, cancelled.tuple_done());
  queue->Dequeue(&step_, next.tuple_done());
  EXPECT_EQ(next.Describe(), "waits");
  other.Cancel(Aborted("the step ended"));
  EXPECT_EQ(cancelled.status->code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(next.Describe(), "float[] 0");
  EXPECT_EQ(Get(*queue), "float[] 1");
}

TEST_F(QueueTest, StepThatWasCancelledBeforeDoesNotWait) {
  auto queue = Floats(1);
  step_.Cancel(Aborted("the step ended"));
  Outcome got, put;
  queue->Dequeue(&step_, got.tuple_done());
  EXPECT_EQ(got.Describe(), "Dequeue operation was cancelled");
}

TEST_F(QueueTest, WaitersAreServedInOrder) {
  auto queue = Floats(-1);
  Outcome first, second;
  queue->Dequeue(&step_, first.tuple_done());
  queue->Dequeue(&step_, second.tuple_done());
  Put(*queue, 1);
  EXPECT_EQ(first.Describe(), "float[] 1");
  EXPECT_EQ(second.Describe(), "waits");
  Put(*queue, 2);
  EXPECT_EQ(second.Describe(), "float[] 2");
}

TEST_F(QueueTest, WrongTypesAndShapesAreRefused) {
  auto queue = Floats(-1);
  Outcome type, shape, count, batch;
  queue->Enqueue({Tensor(int32_t{1})}, &step_, type.done());
  EXPECT_EQ(type.Describe(), "Type mismatch in tuple component 0. Expected float, got int32");
  queue->Enqueue({Tensor(std::vector<float>{1, 2})}, &step_, shape.done());
  EXPECT_EQ(shape.Describe(), "Shape mismatch in tuple component 0. Expected [], got [2]");
  queue->Enqueue({Tensor(1.0f), Tensor(1.0f)}, &step_, count.done());
  EXPECT_EQ(count.status->code(), absl::StatusCode::kInvalidArgument);
  queue->EnqueueMany({Tensor(1.0f)}, &step_, batch.done());
  EXPECT_EQ(batch.status->code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(QueueTest, PaddingFillsWithZeros) {
  auto queue = Make({.kind = "PaddingFIFOQueue", .types = {kInt32}, .shapes = {PartialShape({kUnknownSize, kUnknownSize})}});
  for (const Shape& shape : {Shape{1, 2}, Shape{2, 1}}) {
    Outcome put;
    queue->Enqueue({Tensor::Of<int32_t>(shape, {1, 2})}, &step_, put.done());
    ASSERT_EQ(put.Describe(), "ok");
  }
  EXPECT_EQ(GetMany(*queue, 2), "int32[2,2,2] 1 2 0 0 1 0 2 0");
  EXPECT_EQ(GetMany(*queue, 0), "int32[0,0,0]");
}

TEST_F(QueueTest, SmallestPriorityComesFirstAndTheOldestOfEqualOnes) {
  auto queue = Make({.kind = "PriorityQueue", .types = {kInt64, kString}, .shapes = {PartialShape::Scalar(), PartialShape::Scalar()}});
  Outcome put;
  queue->EnqueueMany({Tensor(std::vector<int64_t>{3, 1, 2, 1}), Tensor(std::vector<std::string>{"c", "a", "b", "a2"})}, &step_, put.done());
  EXPECT_EQ(GetMany(*queue, 4), "int64[4] 1 1 2 3; string[4] \"a\" \"a2\" \"b\" \"c\"");
}

TEST_F(QueueTest, ShuffleKeepsElementsBackUntilClosed) {
  auto queue = Make({.kind = "RandomShuffleQueue", .types = {kFloat}, .shapes = {}, .min_after_dequeue = 2, .seed = 1, .seed2 = 2});
  Put(*queue, 1);
  Put(*queue, 2);
  Outcome got;
  queue->Dequeue(&step_, got.tuple_done());
  EXPECT_EQ(got.Describe(), "waits");
  Close(*queue);
  EXPECT_TRUE(got.is_ready());
  EXPECT_EQ(queue->size(), 1);
}

TEST_F(QueueTest, DestroyedWaiterIsNotCalledAgain) {
  auto queue = Floats(-1);
  Outcome got;
  queue->Dequeue(&step_, got.tuple_done());
  Put(*queue, 1);
  got.status.reset();
  step_.Cancel(Aborted("the step ended"));
  EXPECT_FALSE(got.is_ready());
}

}  // namespace
}  // namespace tandem
