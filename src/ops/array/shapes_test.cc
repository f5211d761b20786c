// What is known of an array op's result before it runs, from partly known inputs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tandem/graph.h"

namespace tandem {
namespace {

constexpr int64_t kAny = kUnknownSize;

class Shapes : public testing::Test {
 protected:
  Output Feed(DataType dtype, const PartialShape& shape) {
    return graph_.AddNode({.op = "Placeholder", .name = "", .inputs = {}, .attrs = {{"dtype", dtype}, {"shape", AttrValue(shape)}}, .control_inputs = {}, .device = ""}).output();
  }
  Output Feed(const PartialShape& shape) { return Feed(kFloat, shape); }
  Output Const(const Tensor& value) {
    return graph_.AddNode({.op = "Const", .name = "", .inputs = {}, .attrs = {{"value", AttrValue(value)}, {"dtype", value.dtype()}}, .control_inputs = {}, .device = ""}).output();
  }
  Output Vector(std::vector<int32_t> values) { return Const(Tensor(values)); }
  Output Scalar(int32_t value) { return Const(Tensor(value)); }

  // "[2,?]" or the message of the error.
  std::string Infer(const std::string& op, std::vector<Output> inputs, std::vector<NamedAttr> attrs = {}, int output = 0) {
    absl::StatusOr<Operation> node = graph_.TryAddNode({.op = op, .name = "", .inputs = inputs, .attrs = attrs, .control_inputs = {}, .device = ""});
    return node.ok() ? node->output(output).shape().ToString() : std::string(node.status().message());
  }

  Graph graph_;
};

TEST_F(Shapes, ReshapeFindsTheMissingSize) {
  EXPECT_EQ(Infer("Reshape", {Feed({2, 3, 4}), Vector({-1, 6})}), "[4,6]");
  EXPECT_EQ(Infer("Reshape", {Feed({kAny, 3}), Vector({-1, 6})}), "[?,6]");
  EXPECT_EQ(Infer("Reshape", {Feed({2, 3}), Feed(kInt32, {3})}), "[?,?,?]");
  EXPECT_EQ(Infer("Reshape", {Feed({2, 3}), Feed(kInt32, PartialShape())}), "<unknown>");
}

TEST_F(Shapes, SqueezeWithoutAxesNeedsAllSizes) {
  EXPECT_EQ(Infer("Squeeze", {Feed({1, 3, 1})}), "[3]");
  EXPECT_EQ(Infer("Squeeze", {Feed({kAny, 3, 1})}), "<unknown>");
  EXPECT_EQ(Infer("Squeeze", {Feed({kAny, 3, 1})}, {{"squeeze_dims", AttrValue(std::vector<int64_t>{-1})}}), "[?,3]");
}

TEST_F(Shapes, ExpandDimsOfAnUnknownAxisOnlyTellsTheRank) {
  EXPECT_EQ(Infer("ExpandDims", {Feed({2, 3}), Scalar(-1)}), "[2,3,1]");
  EXPECT_EQ(Infer("ExpandDims", {Feed({2, 3}), Feed(kInt32, PartialShape::Scalar())}), "[?,?,?]");
}

TEST_F(Shapes, PackMergesWhatItsInputsSay) {
  EXPECT_EQ(Infer("Pack", {Feed({2, kAny}), Feed({kAny, 3})}, {{"N", 2}, {"axis", 1}}), "[2,2,3]");
  EXPECT_EQ(Infer("Pack", {Feed(PartialShape()), Feed({kAny, 3})}, {{"N", 2}}), "[2,?,3]");
}

TEST_F(Shapes, ConcatAddsUpAlongItsAxis) {
  EXPECT_EQ(Infer("ConcatV2", {Feed({2, 3}), Feed({kAny, 3}), Scalar(1)}, {{"N", 2}}), "[2,6]");
  EXPECT_EQ(Infer("ConcatV2", {Feed({2, 3}), Feed({2, kAny}), Scalar(-1)}, {{"N", 2}}), "[2,?]");
  EXPECT_EQ(Infer("ConcatV2", {Feed({2, 3}), Feed({2, 3}), Feed(kInt32, PartialShape::Scalar())}, {{"N", 2}}), "[?,?]");
}

TEST_F(Shapes, SliceToTheEnd) {
  EXPECT_EQ(Infer("Slice", {Feed({5, kAny}), Vector({1, 0}), Vector({-1, 2})}), "[4,2]");
  EXPECT_EQ(Infer("Slice", {Feed({5, kAny}), Feed(kInt32, {2}), Vector({-1, 2})}), "[?,2]");
}

TEST_F(Shapes, StridedSliceWithAFedIndexDropsItsDimension) {
  EXPECT_EQ(Infer("StridedSlice", {Feed({5, 3}), Feed(kInt32, {1}), Feed(kInt32, {1}), Vector({1})}, {{"shrink_axis_mask", 1}}), "[3]");
  EXPECT_EQ(Infer("StridedSlice", {Feed({5, 3}), Feed(kInt32, {1}), Feed(kInt32, {1}), Vector({1})}), "[?,3]");
}

TEST_F(Shapes, StridedSliceOfAnUnknownSize) {
  EXPECT_EQ(Infer("StridedSlice", {Feed({kAny, 3}), Vector({0, 0}), Vector({2, 0}), Vector({1, -1})}, {{"begin_mask", 2}, {"end_mask", 2}}), "[?,3]");
  EXPECT_EQ(Infer("StridedSlice", {Feed({kAny, 3}), Vector({0, 0}), Vector({0, 0}), Vector({1, 1})}, {{"ellipsis_mask", 1}, {"new_axis_mask", 2}}), "[?,3,1]");
}

TEST_F(Shapes, TransposeNeedsAConstantPermutation) {
  EXPECT_EQ(Infer("Transpose", {Feed({2, kAny, 4}), Vector({2, 0, 1})}), "[4,2,?]");
  EXPECT_EQ(Infer("Transpose", {Feed({2, kAny, 4}), Feed(kInt32, {3})}), "[?,?,?]");
}

TEST_F(Shapes, GatherPutsTheIndicesInPlaceOfTheAxis) {
  EXPECT_EQ(Infer("GatherV2", {Feed({kAny, 8}), Feed(kInt64, {3, kAny}), Scalar(0)}), "[3,?,8]");
  EXPECT_EQ(Infer("GatherV2", {Feed({4, 8, 2}), Feed(kInt64, {4, 5}), Scalar(1)}, {{"batch_dims", 1}}), "[4,5,2]");
  EXPECT_EQ(Infer("GatherNd", {Feed({4, 8, 2}), Feed(kInt64, {kAny, 2})}), "[?,2]");
}

TEST_F(Shapes, TilePadAndBroadcast) {
  EXPECT_EQ(Infer("Tile", {Feed({2, kAny}), Vector({3, 2})}), "[6,?]");
  EXPECT_EQ(Infer("Pad", {Feed({2, kAny}), Const(Tensor::Of<int32_t>({2, 2}, {1, 1, 0, 2}))}), "[4,?]");
  EXPECT_EQ(Infer("BroadcastTo", {Feed({3, 1}), Vector({2, 3, 4})}), "[2,3,4]");
  EXPECT_EQ(Infer("Fill", {Vector({2, 3}), Const(Tensor(1.0f))}), "[2,3]");
}

TEST_F(Shapes, SplitDividesAndSplitVNames) {
  EXPECT_EQ(Infer("Split", {Scalar(1), Feed({kAny, 6})}, {{"num_split", 3}}), "[?,2]");
  EXPECT_EQ(Infer("SplitV", {Feed({kAny, 6}), Vector({1, -1}), Scalar(1)}, {{"num_split", 2}}, 1), "[?,5]");
}

TEST_F(Shapes, SegmentsAreKnownOnlyByTheirNumber) {
  EXPECT_EQ(Infer("UnsortedSegmentSum", {Feed({kAny, 3}), Feed(kInt32, {kAny}), Scalar(4)}), "[4,3]");
  EXPECT_EQ(Infer("SegmentSum", {Feed({5, 3}), Feed(kInt32, {5})}), "[?,3]");
}

TEST_F(Shapes, EinsumFollowsItsLabels) {
  EXPECT_EQ(Infer("Einsum", {Feed({kAny, 3}), Feed({3, 4})}, {{"equation", "ij,jk->ki"}, {"N", 2}}), "[4,?]");
  EXPECT_EQ(Infer("Einsum", {Feed({5, kAny, 3}), Feed({1, 3, 4})}, {{"equation", "...ij,...jk->...ik"}, {"N", 2}}), "[5,?,4]");
}

TEST_F(Shapes, ImpossibleInputsAreRefusedWhileBuilding) {
  EXPECT_NE(Infer("Reshape", {Feed({2, 3}), Vector({4, 2})}).find("Cannot reshape a tensor with 6 elements"), std::string::npos);
  EXPECT_NE(Infer("StridedSlice", {Feed({3}), Vector({3}), Vector({4}), Vector({1})}, {{"shrink_axis_mask", 1}}).find("slice index 3 of dimension 0 out of bounds."),
            std::string::npos);
  EXPECT_NE(Infer("Transpose", {Feed({2, 3}), Vector({0, 0})}).find("is missing from"), std::string::npos);
  EXPECT_NE(Infer("Tile", {Feed({2, 3}), Vector({1})}).find("multiples"), std::string::npos);
}

}  // namespace
}  // namespace tandem
