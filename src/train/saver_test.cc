#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "checkpoint/checkpoint_state.h"
#include "graph/node.h"
#include "tandem/error.h"
#include "tandem/ops.h"
#include "tandem/saver.h"
#include "train/test_directory.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// A variable w of three elements, and what saves it.
struct Model {
  explicit Model(const SaverOptions& options = {}, const Shape& shape = {3}, bool use_resource = true)
      : w(g, Zeros(g, shape), "w", {.use_resource = use_resource}),
        value(Placeholder(g, kFloat, {}, "value")),
        set(w.Assign(Fill(g, shape, Tensor(0.0f)) + value)),
        saver(g, options),
        session(g) {}

  void Set(float to) { session.Run({set}, {{value, to}}); }
  float Get() { return session.Run({w})[0].data<float>()[0]; }

  Graph g;
  Variable w;
  Output value;
  Operation set;
  Saver saver;
  Session session;
};

std::vector<std::string> Checkpoints(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().extension() == ".index") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status StatusOf(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.status();
  }
  return absl::OkStatus();
}

void FlipByte(const std::string& path, size_t offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(offset);
  const char byte = static_cast<char>(file.get() ^ 0x40);
  file.seekp(offset);
  file.put(byte);
}

TEST(Saver, RestoresWhatItSaved) {
  for (bool use_resource : {true, false}) {
    for (bool sharded : {true, false}) {
      TestDirectory dir;
      std::string path;
      {
        Model model({.sharded = sharded}, {3}, use_resource);
        model.Set(5);
        path = model.saver.Save(model.session, dir / "model.ckpt", 7);
      }
      EXPECT_EQ(path, dir / "model.ckpt-7");
      EXPECT_TRUE(fs::exists(path + ".meta"));
      EXPECT_EQ(Saver::LatestCheckpoint(dir.path()), path);
      Model model({.sharded = sharded}, {3}, use_resource);
      model.saver.Restore(model.session, path);
      EXPECT_EQ(model.Get(), 5.0f);
    }
  }
}

TEST(Saver, NodesAreNamedAsTensorFlowNamesThem) {
  Model model;
  for (const char* name : {"save/Const", "save/SaveV2", "save/SaveV2/tensor_names", "save/SaveV2/shape_and_slices", "save/control_dependency", "save/RestoreV2",
                           "save/AssignVariableOp", "save/restore_all"}) {
    EXPECT_NE(model.g.FindNode(name), nullptr) << name;
  }
}

TEST(Saver, KeepsTheNewest) {
  TestDirectory dir;
  Model model({.max_to_keep = 3});
  model.Set(1);
  std::ofstream(dir / "model.ckpt-1.bak") << "not ours";
  for (int step : {1, 2, 3, 4, 5, 5}) model.saver.Save(model.session, dir / "model.ckpt", step);
  EXPECT_THAT(Checkpoints(dir.path()), ElementsAre("model.ckpt-3", "model.ckpt-4", "model.ckpt-5"));
  EXPECT_TRUE(fs::exists(dir / "model.ckpt-1.bak"));
  EXPECT_FALSE(fs::exists(dir / "model.ckpt-1.meta"));
  EXPECT_THAT(model.saver.last_checkpoints(), ElementsAre(dir / "model.ckpt-3", dir / "model.ckpt-4", dir / "model.ckpt-5"));
}

TEST(Saver, KeepsAllIfToldTo) {
  TestDirectory dir;
  Model model({.max_to_keep = 0});
  model.Set(1);
  for (int step : {1, 2, 3}) model.saver.Save(model.session, dir / "model.ckpt", step);
  EXPECT_EQ(Checkpoints(dir.path()).size(), 3u);
  EXPECT_THAT(model.saver.last_checkpoints(), ElementsAre(dir / "model.ckpt-3"));
}

TEST(Saver, TreatsBracketsAndStarsInPathsAsCharacters) {
  TestDirectory dir;
  const std::string odd = dir / "lr=[0.1,0.2]_x*", sibling = dir / "lr=0_xy";
  fs::create_directory(odd);
  fs::create_directory(sibling);
  Model model({.max_to_keep = 2});
  model.Set(1);
  model.saver.Save(model.session, sibling + "/model.ckpt", 1);
  Model other({.max_to_keep = 2});
  other.Set(2);
  for (int step : {1, 2, 3}) other.saver.Save(other.session, odd + "/model.ckpt", step);
  EXPECT_THAT(Checkpoints(odd), ElementsAre("model.ckpt-2", "model.ckpt-3"));
  EXPECT_THAT(Checkpoints(sibling), ElementsAre("model.ckpt-1"));
  EXPECT_EQ(Saver::LatestCheckpoint(odd), odd + "/model.ckpt-3");
}

TEST(Saver, CountsThoseOfAnEarlierRunAfterRecovery) {
  TestDirectory dir;
  for (int step : {10, 20, 30}) {
    Model model({.max_to_keep = 2});
    model.Set(1);
    if (step > 10) model.saver.RecoverLastCheckpoints(dir.path());
    model.saver.Save(model.session, dir / "model.ckpt", step);
  }
  EXPECT_THAT(Checkpoints(dir.path()), ElementsAre("model.ckpt-20", "model.ckpt-30"));
}

TEST(Saver, NamesVariableAndShapesThatDoNotFit) {
  TestDirectory dir;
  Model three({}, {3});
  three.Set(1);
  const std::string path = three.saver.Save(three.session, dir / "model.ckpt");
  Model four({}, {4});
  absl::Status status = StatusOf([&] { four.saver.Restore(four.session, path); });
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("w"), HasSubstr("[3]"), HasSubstr("[4]"), HasSubstr(path)));
}

TEST(Saver, NamesWhatACheckpointLacks) {
  TestDirectory dir;
  Model model;
  model.Set(1);
  const std::string path = model.saver.Save(model.session, dir / "model.ckpt");
  Graph g;
  Variable w(g, Zeros(g, {3}), "w"), more(g, Zeros(g, {3}), "w/Momentum");
  Saver saver(g);
  Session session(g);
  absl::Status status = StatusOf([&] { saver.Restore(session, path); });
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("w/Momentum"), HasSubstr(path)));
}

TEST(Saver, NamesFileAndTensorOfADamagedCheckpoint) {
  TestDirectory dir;
  Model model;
  model.Set(1);
  const std::string path = model.saver.Save(model.session, dir / "model.ckpt");
  FlipByte(path + ".data-00000-of-00001", 5);
  absl::Status status = StatusOf([&] { model.saver.Restore(model.session, path); });
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("tensor w"), HasSubstr(path)));
}

TEST(Saver, FailsWithoutACheckpoint) {
  TestDirectory dir;
  Model model;
  absl::Status status = StatusOf([&] { model.saver.Restore(model.session, dir / "none"); });
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr(dir / "none"));
}

TEST(Saver, DoesNotAdvanceTheStateWhenItCannotWrite) {
  TestDirectory dir;
  Model model;
  model.Set(1);
  model.saver.Save(model.session, dir / "model.ckpt", 1);
  absl::Status status = StatusOf([&] { model.saver.Save(model.session, dir / "no/such/directory/model.ckpt", 2); });
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(Saver::LatestCheckpoint(dir.path()), dir / "model.ckpt-1");
}

}  // namespace
}  // namespace tandem
