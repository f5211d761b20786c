#include "checkpoint/checkpoint_state.h"

#include <gtest/gtest.h>

#include "checkpoint/test_files.h"

namespace tandem {
namespace {

void Touch(const std::string& path) { EXPECT_TRUE(WriteWholeFile(path, "").ok()); }

TEST(CheckpointState, RoundTripsWithPathsRelativeToTheDirectory) {
  std::string directory = FreshDirectory();
  CheckpointState state;
  state.all_model_checkpoint_paths = {directory + "/m-1", "/elsewhere/m-2"};
  state.model_checkpoint_path = directory + "/m-3";
  ASSERT_TRUE(WriteCheckpointState(directory, state).ok());
  EXPECT_EQ(Bytes(directory + "/checkpoint"),
            "model_checkpoint_path: \"m-3\"\nall_model_checkpoint_paths: \"m-1\"\nall_model_checkpoint_paths: \"/elsewhere/m-2\"\n"
            "all_model_checkpoint_paths: \"m-3\"\n");
  StatusOr<std::optional<CheckpointState>> back = ReadCheckpointState(directory);
  ASSERT_TRUE(back.ok() && back->has_value());
  EXPECT_EQ((*back)->model_checkpoint_path, directory + "/m-3");
  EXPECT_EQ((*back)->all_model_checkpoint_paths, (std::vector<std::string>{directory + "/m-1", "/elsewhere/m-2", directory + "/m-3"}));
}

TEST(CheckpointState, NoFileIsNoState) {
  std::string directory = FreshDirectory();
  EXPECT_FALSE(ReadCheckpointState(directory)->has_value());
  EXPECT_FALSE(ReadCheckpointState(directory + "/none")->has_value());
  EXPECT_EQ(*LatestCheckpoint(directory), "");
}

TEST(CheckpointState, AnEmptyFileIsAnErrorNotAFreshStart) {
  std::string directory = FreshDirectory();
  Touch(directory + "/checkpoint");
  Status status = ReadCheckpointState(directory).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find(directory + "/checkpoint"), absl::string_view::npos) << status;
}

TEST(CheckpointState, OtherTextIsIgnored) {
  std::string directory = FreshDirectory();
  ASSERT_TRUE(WriteWholeFile(directory + "/checkpoint", "hello world\n").ok());
  EXPECT_FALSE(ReadCheckpointState(directory)->has_value());
}

TEST(LatestCheckpoint, IsOneThatIsThere) {
  std::string directory = FreshDirectory();
  ASSERT_TRUE(WriteWholeFile(directory + "/checkpoint", "model_checkpoint_path: \"m-2\"\nall_model_checkpoint_paths: \"gone\"\n").ok());
  EXPECT_EQ(*LatestCheckpoint(directory), "");
  Touch(directory + "/m-2.index");
  EXPECT_EQ(*LatestCheckpoint(directory), directory + "/m-2");
}

TEST(CheckpointExists, NamesAreNoPatterns) {
  std::string directory = FreshDirectory() + "/lr=[0.1]_x*";
  ASSERT_TRUE(CreateDirectory(directory).ok());
  Touch(directory + "/m-1.index");
  Touch(directory + "/v1");
  EXPECT_TRUE(CheckpointExists(directory + "/m-1"));
  EXPECT_TRUE(CheckpointExists(directory + "/v1"));
  EXPECT_FALSE(CheckpointExists(directory + "/m-?"));
  EXPECT_FALSE(CheckpointExists(directory));
}

}  // namespace
}  // namespace tandem
