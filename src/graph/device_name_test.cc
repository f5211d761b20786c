#include "graph/device_name.h"

#include "gtest/gtest.h"

namespace tandem {
namespace {

std::string Canonical(absl::string_view text) {
  StatusOr<DeviceName> name = DeviceName::Parse(text);
  return name.ok() ? name->ToString() : std::string(name.status().message());
}

TEST(DeviceName, FullNameReadsBack) {
  EXPECT_EQ(Canonical("/job:ps/replica:0/task:11/device:CPU:0"), "/job:ps/replica:0/task:11/device:CPU:0");
  EXPECT_TRUE(DeviceName::Parse("/job:ps/replica:0/task:11/device:CPU:0")->is_full());
}

TEST(DeviceName, PartsMayComeInAnyOrder) { EXPECT_EQ(Canonical("/device:CPU:1/task:2/job:w"), "/job:w/task:2/device:CPU:1"); }

TEST(DeviceName, ShortFormsAreCpuAndGpu) {
  EXPECT_EQ(Canonical("/cpu:0"), "/device:CPU:0");
  EXPECT_EQ(Canonical("/job:w/task:0/GPU:*"), "/job:w/task:0/device:GPU:*");
  EXPECT_EQ(Canonical("/device:gpu:3"), "/device:GPU:3");
}

TEST(DeviceName, StarMeansAny) {
  EXPECT_EQ(Canonical("/job:*/replica:*/task:*/device:*"), "");
  EXPECT_EQ(Canonical("/device:CPU"), "/device:CPU:*");
  EXPECT_EQ(Canonical(""), "");
}

TEST(DeviceName, AnythingElseIsMalformed) {
  for (const char* text : {"/what", "jobs:ps", "/job:", "/job:1a", "/task:x", "/task:-1", "/task:99999999999", "/device:CPU:", "cpu:0", "/cpu", "/job:ps task:0"}) {
    EXPECT_EQ(Canonical(text), absl::StrCat("Malformed device specification '", text, "'"));
  }
}

TEST(DeviceName, RequestMatchesDevicesWithItsParts) {
  DeviceName device = *DeviceName::Parse("/job:ps/replica:0/task:1/device:CPU:0");
  EXPECT_TRUE(DeviceName::Parse("/job:ps")->Matches(device));
  EXPECT_TRUE(DeviceName::Parse("")->Matches(device));
  EXPECT_FALSE(DeviceName::Parse("/job:ps/task:0")->Matches(device));
}

TEST(DeviceName, MergeAddsWhatIsMissing) {
  DeviceName name = *DeviceName::Parse("/job:ps");
  ASSERT_TRUE(MergeDeviceNames(*DeviceName::Parse("/job:ps/task:1/cpu:0"), false, &name).ok());
  EXPECT_EQ(name.ToString(), "/job:ps/task:1/device:CPU:0");
}

TEST(DeviceName, MergeRefusesContradictions) {
  DeviceName name = *DeviceName::Parse("/job:ps");
  EXPECT_EQ(MergeDeviceNames(*DeviceName::Parse("/job:worker"), true, &name).message(),
            "Cannot merge devices with incompatible jobs: '/job:ps' and '/job:worker'");
  EXPECT_EQ(name.ToString(), "/job:ps");
}

TEST(DeviceName, SoftMergeGivesUpTypeAndId) {
  DeviceName name = *DeviceName::Parse("/job:ps/gpu:0");
  EXPECT_FALSE(MergeDeviceNames(*DeviceName::Parse("/cpu:0"), false, &name).ok());
  ASSERT_TRUE(MergeDeviceNames(*DeviceName::Parse("/cpu:0"), true, &name).ok());
  EXPECT_EQ(name.ToString(), "/job:ps");
}

TEST(DeviceName, TaskOfNeedsAllThreeParts) {
  EXPECT_EQ(TaskOf("/job:ps/replica:0/task:1/device:CPU:0"), "/job:ps/replica:0/task:1");
  EXPECT_EQ(TaskOf("/job:ps/task:1"), "");
}

}  // namespace
}  // namespace tandem
