#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "core/status.h"
#include "tandem/coordinator.h"
#include "tandem/error.h"

namespace tandem {
namespace {

TEST(Coordinator, EndsAllThreadsWhenOneFails) {
  Coordinator coordinator;
  coordinator.Start("waits", [&] {
    while (!coordinator.WaitForStop(60)) {
    }
  });
  coordinator.Start("fails", [] { throw Error(InvalidArgument("the reason")); });
  try {
    coordinator.Join();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("the reason"));
  }
  EXPECT_TRUE(coordinator.ShouldStop());
}

TEST(Coordinator, TakesTheEndOfAnInputAsAGoodEnd) {
  Coordinator coordinator;
  coordinator.Start("reads", [] { throw Error(OutOfRange("no more data")); });
  coordinator.Join();
  EXPECT_TRUE(coordinator.ShouldStop());
  EXPECT_TRUE(coordinator.status().ok());
}

TEST(Coordinator, RunsTimersUntilTheStop) {
  Coordinator coordinator;
  std::atomic<int> runs{0};
  coordinator.StartTimer("ticks", 0.001, [&] {
    if (++runs == 3) coordinator.RequestStop();
  });
  coordinator.Join();
  EXPECT_EQ(runs, 3);
}

TEST(Coordinator, NamesThreadsThatDoNotEnd) {
  Coordinator coordinator;
  std::atomic<bool> may_end{false};
  coordinator.Start("stubborn", [&] {
    while (!may_end) std::this_thread::yield();
  });
  coordinator.RequestStop();
  try {
    coordinator.Join(0.01);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_THAT(error.what(), testing::HasSubstr("stubborn"));
  }
  may_end = true;
}

}  // namespace
}  // namespace tandem
