#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tandem/cluster_config.h"

namespace tandem {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kWorker1 = {"--job_name=worker", "--task_index=1", "--ps_hosts=localhost:2222", "--worker_hosts=localhost:2223,localhost:2224"};

std::vector<std::string> With(std::vector<std::string> words, const std::string& word) {
  words.push_back(word);
  return words;
}

void ExpectRefused(const std::vector<std::string>& words, const std::string& text) {
  absl::StatusOr<ClusterConfig> config = ClusterConfig::Parse(words, "");
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(config.status().message()), HasSubstr(text));
  EXPECT_EQ(config.status().message().find('\n'), absl::string_view::npos);
}

TEST(ClusterConfig, WithoutFlagsIsOneProcess) {
  absl::StatusOr<ClusterConfig> config = ClusterConfig::Parse({}, "");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_FALSE(config->has_cluster());
  EXPECT_TRUE(config->is_chief());
  EXPECT_FALSE(config->is_ps());
  EXPECT_EQ(config->worker_count(), 1);
}

TEST(ClusterConfig, ReadsTheFourFlags) {
  absl::StatusOr<ClusterConfig> config = ClusterConfig::Parse(kWorker1, "");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->job_name(), "worker");
  EXPECT_EQ(config->task_index(), 1);
  EXPECT_FALSE(config->is_chief());
  EXPECT_EQ(config->ps_count(), 1);
  EXPECT_EQ(config->worker_count(), 2);
}

TEST(ClusterConfig, ReadsFlagsWithTheValueInTheNextWord) {
  absl::StatusOr<ClusterConfig> config =
      ClusterConfig::Parse({"--job_name", "ps", "-task_index", "0", "--ps_hosts", "a:1", "--worker_hosts", "b:2", "--wait_s", "1.5"}, "");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_TRUE(config->is_ps());
  EXPECT_EQ(config->wait_s(), 1.5);
}

TEST(ClusterConfig, ReadsTfConfig) {
  absl::StatusOr<ClusterConfig> config =
      ClusterConfig::Parse({}, R"({"cluster": {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]}, "task": {"type": "chief", "index": 0}})");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_TRUE(config->is_chief());
  EXPECT_EQ(config->worker_count(), 3);
}

TEST(ClusterConfig, KeepsTheProgramsOwnFlags) {
  absl::StatusOr<ClusterConfig> config = ClusterConfig::Parse({"--steps=5"}, "", {{"steps", "100", ""}, {"data", "here", ""}});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->int_flag("steps"), 5);
  EXPECT_EQ(config->flag("data"), "here");
}

TEST(ClusterConfig, RefusesUnknownFlags) { ExpectRefused(With(kWorker1, "--stepz=5"), "--stepz"); }
TEST(ClusterConfig, RefusesWordsThatAreNoFlags) { ExpectRefused(With(kWorker1, "hello"), "hello"); }
TEST(ClusterConfig, RefusesAFlagWithoutValue) { ExpectRefused(With(kWorker1, "--wait_s"), "--wait_s"); }
TEST(ClusterConfig, RefusesAMissingFlag) { ExpectRefused({"--job_name=ps", "--task_index=0", "--ps_hosts=a:1"}, "--worker_hosts"); }
TEST(ClusterConfig, RefusesAnIndexOutOfRange) { ExpectRefused(With(kWorker1, "--task_index=2"), "2"); }
TEST(ClusterConfig, RefusesAnIndexThatIsNoNumber) { ExpectRefused(With(kWorker1, "--task_index=one"), "one"); }
TEST(ClusterConfig, RefusesAMalformedAddress) { ExpectRefused(With(kWorker1, "--ps_hosts=localhost"), "localhost"); }
TEST(ClusterConfig, RefusesAnUnknownJob) { ExpectRefused(With(kWorker1, "--job_name=boss"), "boss"); }

TEST(ClusterConfigDeathTest, FromArgsEndsWithTwoAndOneLine) {
  const char* argv[] = {"program", "--nope=1"};
  EXPECT_EXIT(ClusterConfig::FromArgs(2, const_cast<char**>(argv)), testing::ExitedWithCode(2), "program: unknown flag --nope");
}

}  // namespace
}  // namespace tandem
