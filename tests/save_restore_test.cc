// The ops that the Saver of a TensorFlow client puts into its graph, run in a local session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "core/file.h"
#include "core/random.h"
#include "tandem/tandem.h"

namespace tandem {
namespace {

std::string FreshDirectory() {
  std::string path = absl::StrCat(testing::TempDir(), "save_restore_test_", RandomUint64());
  EXPECT_TRUE(CreateDirectory(path).ok());
  return path;
}

using Strings = std::vector<std::string>;

Status Save(const std::string& prefix, const Strings& names, const Strings& slices, const std::vector<Tensor>& tensors) {
  Graph g;
  std::vector<Output> inputs = {Const(g, prefix), Const(g, names), Const(g, slices)};
  for (const Tensor& tensor : tensors) inputs.push_back(Const(g, tensor));
  try {
    Operation save = g.AddNode({.op = "SaveV2", .inputs = inputs});
    Session(g).Run({save});
  } catch (const Error& error) {
    return error.status();
  }
  return OkStatus();
}

// Each tensor in words, or the error.
Strings Restore(const std::string& prefix, const Strings& names, const Strings& slices, const std::vector<DataType>& dtypes) {
  Graph g;
  Strings described;
  try {
    Operation restore =
        g.AddNode({.op = "RestoreV2", .inputs = {Const(g, prefix), Const(g, names), Const(g, slices)}, .attrs = {{"dtypes", AttrValue(dtypes)}}});
    std::vector<Fetch> fetches;
    for (int i = 0; i < restore.num_outputs(); ++i) fetches.push_back(restore.output(i));
    for (const Tensor& tensor : Session(g).Run(fetches)) described.push_back(tensor.ToString(20));
  } catch (const Error& error) {
    described = {std::string(error.status().ToString())};
  }
  return described;
}

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SaveV2, RestoreV2GivesBackWhatItSaved) {
  std::string prefix = FreshDirectory() + "/m";
  ASSERT_TRUE(Save(prefix, {"a", "b"}, {"", ""}, {Tensor::Vector<float>({1, 2}), Tensor(std::string("s"))}).ok());
  EXPECT_THAT(Restore(prefix, {"b", "a"}, {"", ""}, {kString, kFloat}), ElementsAre("string[] \"s\"", "float[2] 1 2"));
  EXPECT_THAT(Restore(prefix, {"a"}, {"2 1,1"}, {kFloat}), ElementsAre("float[1] 2"));
}

TEST(SaveV2, RefusesASliceOfAnotherShape) {
  EXPECT_THAT(Save(FreshDirectory() + "/m", {"a"}, {"4 0,3"}, {Tensor::Vector<float>({1, 2})}).message(),
              HasSubstr("Slice in shape_and_slice specification does not match the shape of the tensor to  save: 4 0,3, tensor: [2]"));
}

TEST(SaveV2, ReportsAMissingParentDirectory) {
  std::string directory = FreshDirectory();
  Status status = Save(directory + "/x/y/m", {"a"}, {""}, {Tensor(1.0f)});
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr(directory + "/x/y; No such file or directory"));
}

TEST(RestoreV2, SaysAllThatIsWrong) {
  std::string prefix = FreshDirectory() + "/m";
  ASSERT_TRUE(Save(prefix, {"a", "b"}, {"", ""}, {Tensor(1.0f), Tensor(2.0)}).ok());
  EXPECT_THAT(Restore(prefix, {"a", "b"}, {"", ""}, {kDouble, kFloat}),
              ElementsAre(HasSubstr("tensor_name = a; expected dtype double does not equal original dtype float\n"
                                    "tensor_name = b; expected dtype float does not equal original dtype double")));
  EXPECT_THAT(Restore(prefix, {"x", "a", "y"}, {"", "", ""}, {kFloat, kFloat, kFloat}),
              ElementsAre(testing::AllOf(HasSubstr("NOT_FOUND"), HasSubstr("Key x not found in checkpoint\nKey y not found in checkpoint"))));
  EXPECT_THAT(Restore(prefix + "0", {"a"}, {""}, {kFloat}),
              ElementsAre(HasSubstr("Unsuccessful TensorSliceReader constructor: Failed to find any matching files for " + prefix + "0")));
}

TEST(RestoreV2, RefusesASliceOfAnotherFullShape) {
  std::string prefix = FreshDirectory() + "/m";
  ASSERT_TRUE(Save(prefix, {"emb"}, {"4 0,2"}, {Tensor::Vector<float>({1, 2})}).ok());
  EXPECT_THAT(Restore(prefix, {"emb"}, {"5 0,2"}, {kFloat}),
              ElementsAre(HasSubstr("tensor_name = emb; shape in shape_and_slice spec [5] does not match the shape stored in checkpoint: [4]")));
  EXPECT_THAT(Restore(prefix, {"emb"}, {"4 1,3"}, {kFloat}),
              ElementsAre(HasSubstr("Does not have sufficient slices for partitioned tensor emb to restore in slice_spec: 1,3")));
}

TEST(RestoreV2, ReadsTheOldFormat) {
  std::string file = std::string(TANDEM_GOLDEN_DIR) + "/checkpoints/v1";
  EXPECT_THAT(Restore(file, {"n", "w"}, {"", "10 2 1,1:-"}, {kInt64, kFloat}), ElementsAre("int64[] 5", "float[1,2] 2 3"));
  EXPECT_THAT(Restore(file, {"n"}, {""}, {kFloat}), ElementsAre(HasSubstr("Expected to restore a tensor of type float, got a tensor of type int64 instead")));
}

TEST(SaveSlices, RestoreSliceGivesBackWhatItSaved) {
  std::string file = FreshDirectory() + "/v1";
  Graph g;
  Output name = Const(g, file), rows = Const(g, Tensor::Of<float>({2, 2}, {1, 2, 3, 4}));
  Operation save = g.AddNode({.op = "SaveSlices", .inputs = {name, Const(g, Strings{"w"}), Const(g, Strings{"4 2 2,2:-"}), rows}});
  Operation restore = g.AddNode({.op = "RestoreSlice", .inputs = {name, Const(g, "w"), Const(g, "4 2 3,1:-")}, .attrs = {{"dt", kFloat}}});
  Session session(g);
  session.Run({save});
  EXPECT_EQ(session.Run({restore.output()})[0].ToString(), "float[1,2] 3 4");
}

TEST(MergeV2Checkpoints, JoinsPartsAndRemovesTheirDirectories) {
  std::string directory = FreshDirectory();
  Strings parts = {directory + "/m_temp/part-00000-of-00002", directory + "/m_temp/part-00001-of-00002"};
  ASSERT_TRUE(Save(parts[0], {"a"}, {""}, {Tensor(1.0f)}).ok());
  ASSERT_TRUE(Save(parts[1], {"b"}, {""}, {Tensor(2.0f)}).ok());
  Graph g;
  Operation merge = g.AddNode({.op = "MergeV2Checkpoints", .inputs = {Const(g, parts), Const(g, directory + "/m")}});
  Session(g).Run({merge});
  EXPECT_THAT(*ListDirectory(directory), ElementsAre("m.data-00000-of-00002", "m.data-00001-of-00002", "m.index"));
  EXPECT_THAT(Restore(directory + "/m", {"a", "b"}, {"", ""}, {kFloat, kFloat}), ElementsAre("float[] 1", "float[] 2"));
}

TEST(MatchingFiles, FindsByPattern) {
  std::string directory = FreshDirectory();
  for (const char* name : {"a1", "a2", "b1", "c[x]"}) ASSERT_TRUE(WriteWholeFile(directory + "/" + name, name).ok());
  ASSERT_TRUE(CreateDirectories(directory + "/d/e").ok());
  ASSERT_TRUE(WriteWholeFile(directory + "/d/e/f", "").ok());
  auto find = [&](const Strings& patterns) {
    Graph g;
    Strings full;
    for (const std::string& pattern : patterns) full.push_back(directory + "/" + pattern);
    Operation match = g.AddNode({.op = "MatchingFiles", .inputs = {Const(g, full)}});
    std::string found;
    Tensor names = Session(g).Run({match.output()})[0];
    for (const std::string& name : names.values<std::string>()) absl::StrAppend(&found, name.substr(directory.size() + 1), " ");
    return found;
  };
  EXPECT_EQ(find({"?1"}), "a1 b1 ");
  EXPECT_EQ(find({"b*", "a*"}), "a1 a2 b1 ");
  EXPECT_EQ(find({"[^a]1"}), "b1 ");
  EXPECT_EQ(find({"c[[]x]"}), "c[x] ");
  EXPECT_EQ(find({"*/e/*"}), "d/e/f ");
  EXPECT_EQ(find({"none/*", "a1"}), "a1 ");
}

TEST(WriteFile, ReadFileGivesItBack) {
  std::string path = FreshDirectory() + "/deep/er/f";
  Graph g;
  Session session(g);
  Operation write = g.AddNode({.op = "WriteFile", .inputs = {Const(g, path), Const(g, std::string("a\0b", 3))}});
  Output read = g.AddNode({.op = "ReadFile", .inputs = {Const(g, path)}}).output();
  session.Run({write});
  EXPECT_EQ(session.Run({read})[0].scalar<std::string>(), std::string("a\0b", 3));
}

}  // namespace
}  // namespace tandem
