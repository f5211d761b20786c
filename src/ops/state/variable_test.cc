// Variables through a session: what may see a change and what may not.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/graph.pb.h"
#include "runtime/local_session.h"
#include "tandem/graph.h"

namespace tandem {
namespace {

using testing::HasSubstr;

class VariableTest : public testing::Test {
 protected:
  Output Const(Tensor value) { return graph_.AddNode({.op = "Const", .attrs = {{"value", AttrValue(value)}, {"dtype", value.dtype()}}}).output(); }
  Output Ref(const std::string& name, const Shape& shape = {2}) {
    return graph_.AddNode({.op = "VariableV2", .name = name, .attrs = {{"dtype", kFloat}, {"shape", shape}}}).output();
  }
  Output Handle(const std::string& name) {
    return graph_.AddNode({.op = "VarHandleOp", .name = name, .attrs = {{"dtype", kFloat}, {"shape", Shape{2}}, {"shared_name", name.c_str()}}}).output();
  }
  Operation Op(const std::string& op, std::vector<Output> inputs, std::vector<NamedAttr> attrs = {}, std::vector<Operation> after = {}) {
    return graph_.AddNode({.op = op, .inputs = std::move(inputs), .attrs = std::move(attrs), .control_inputs = std::move(after)});
  }
  Output Read(Output handle, std::vector<Operation> after = {}) { return Op("ReadVariableOp", {handle}, {{"dtype", kFloat}}, std::move(after)).output(); }

  // Extends the session by what is new in the graph and runs it. "float[2] 1 2; …", or the error.
  std::string Run(std::vector<Output> fetches, std::vector<Operation> targets = {}) {
    RunRequest request;
    for (const Output& fetch : fetches) request.fetches.push_back(fetch.name());
    for (const Operation& target : targets) request.targets.push_back(target.name());
    tensorflow::GraphDef all, added;
    if (!all.ParseFromString(graph_.ToGraphDef())) return "not a graph";
    for (int i = sent_; i < all.node_size(); ++i) *added.add_node() = all.node(i);
    sent_ = all.node_size();
    if (added.node_size() > 0) {
      if (Status status = session_->Extend(added); !status.ok()) return std::string(status.message());
    }
    last_.clear();
    if (Status status = session_->Run(request, &last_); !status.ok()) return std::string(status.message());
    std::string text;
    for (const Tensor& value : last_) absl::StrAppend(&text, text.empty() ? "" : "; ", value.ToString());
    return text;
  }

  Graph graph_;
  std::unique_ptr<SessionBackend> session_ = NewLocalSession();
  int sent_ = 0;
  std::vector<Tensor> last_;
};

TEST_F(VariableTest, ReadBeforeAnUpdateIsASnapshot) {
  Output v = Handle("v");
  Operation init = Op("AssignVariableOp", {v, Const(std::vector<float>{1, 2})});
  EXPECT_EQ(Run({}, {init}), "");
  Output before = Read(v);
  Operation add = Op("AssignAddVariableOp", {v, Const(std::vector<float>{10, 10})}, {}, {before});
  Output after = Read(v, {add});
  EXPECT_EQ(Run({before, after}), "float[2] 1 2; float[2] 11 12");
}

TEST_F(VariableTest, FetchedValueDoesNotChangeWithTheVariable) {
  Output v = Handle("v");
  Run({}, {Op("AssignVariableOp", {v, Const(std::vector<float>{1, 2})})});
  Run({Read(v)});
  const Tensor fetched = last_[0];
  Run({}, {Op("ResourceApplyGradientDescent", {v, Const(1.0f), Const(std::vector<float>{5, 5})})});
  EXPECT_EQ(fetched.ToString(), "float[2] 1 2");
}

TEST_F(VariableTest, UpdateDoesNotReachTheConstantThatItStartedFrom) {
  Output start = Const(std::vector<float>{1, 2});
  Output a = Ref("a"), b = Ref("b");
  Operation assign_a = Op("Assign", {a, start}), assign_b = Op("Assign", {b, start});
  EXPECT_EQ(Run({}, {assign_a, assign_b}), "");
  Run({}, {Op("AssignAdd", {a, Const(std::vector<float>{10, 10})})});
  EXPECT_EQ(Run({a, b, start}), "float[2] 11 12; float[2] 1 2; float[2] 1 2");
}

TEST_F(VariableTest, VariableAssignedFromAnotherOneIsACopy) {
  Output a = Ref("a"), b = Ref("b");
  Run({}, {Op("Assign", {a, Const(std::vector<float>{1, 2})})});
  Run({}, {Op("Assign", {b, a})});
  Run({}, {Op("AssignAdd", {a, Const(std::vector<float>{10, 10})})});
  EXPECT_EQ(Run({b}), "float[2] 1 2");
}

TEST_F(VariableTest, UninitializedVariableIsNamed) {
  Output a = Ref("weights");
  EXPECT_THAT(Run({Op("AssignAdd", {a, Const(std::vector<float>{1, 1})}).output()}), HasSubstr("Attempting to use uninitialized value weights"));
  EXPECT_THAT(Run({Read(Handle("biases"))}), HasSubstr("Could not find variable biases. This could mean that the variable has been deleted. In TF1, it can "
                                                       "also mean the variable is uninitialized."));
}

TEST_F(VariableTest, SlotWithoutValueIsNamed) {
  Output a = Ref("weights"), slot = Ref("weights/Momentum");
  Run({}, {Op("Assign", {a, Const(std::vector<float>{1, 2})})});
  Operation apply = Op("ApplyMomentum", {a, slot, Const(0.1f), Const(std::vector<float>{1, 1}), Const(0.9f)});
  EXPECT_THAT(Run({}, {apply}), HasSubstr("Attempting to use uninitialized value weights/Momentum"));
  EXPECT_EQ(Run({a}), "float[2] 1 2");
}

TEST_F(VariableTest, VariableIsGoneAfterItsHandleWasDestroyed) {
  Output v = Handle("v");
  Operation init = Op("AssignVariableOp", {v, Const(std::vector<float>{1, 2})});
  Operation destroy = Op("DestroyResourceOp", {v}, {{"ignore_lookup_error", false}});
  Output is_initialized = Op("VarIsInitializedOp", {v}).output();
  Run({}, {init});
  EXPECT_EQ(Run({is_initialized}), "bool[] true");
  EXPECT_EQ(Run({}, {destroy}), "");
  EXPECT_EQ(Run({is_initialized}), "bool[] false");
  EXPECT_THAT(Run({}, {destroy}), HasSubstr("does not exist"));
  Run({}, {init});
  EXPECT_EQ(Run({Read(v)}), "float[2] 1 2");
}

TEST_F(VariableTest, NamesOfPrivateResourcesAreRefused) {
  Output v = graph_.AddNode({.op = "VariableV2", .attrs = {{"dtype", kFloat}, {"shape", Shape{}}, {"shared_name", "_v"}}}).output();
  EXPECT_THAT(Run({Op("IsVariableInitialized", {v}).output()}), HasSubstr("shared_name cannot start with '_':_v"));
}

TEST_F(VariableTest, OneNameHasOneType) {
  Output a = graph_.AddNode({.op = "VariableV2", .attrs = {{"dtype", kFloat}, {"shape", Shape{}}, {"shared_name", "v"}}}).output();
  Output b = graph_.AddNode({.op = "VariableV2", .attrs = {{"dtype", kInt32}, {"shape", Shape{}}, {"shared_name", "v"}}}).output();
  Run({}, {Op("Assign", {a, Const(1.0f)})});
  EXPECT_THAT(Run({Op("AssignAdd", {b, Const(int32_t{1})}).output()}), HasSubstr("variable v exists with type float, this node wants int32"));
}

TEST_F(VariableTest, HandleOfAnotherTaskIsRefusedWithBothDevices) {
  ResourceHandle handle;
  handle.device = "/job:ps/replica:0/task:3/device:CPU:0";
  handle.container = "ps";
  handle.name = "v";
  Output fed = graph_.AddNode({.op = "Placeholder", .name = "fed", .attrs = {{"dtype", kResource}, {"shape", Shape{}}}}).output();
  Output value = Read(fed);
  tensorflow::GraphDef graph;
  ASSERT_TRUE(graph.ParseFromString(graph_.ToGraphDef()));
  ASSERT_TRUE(session_->Extend(graph).ok());
  RunRequest request;
  request.feeds = {{"fed:0", Tensor::Scalar(handle)}};
  request.fetches = {value.name()};
  const Status status = session_->Run(request, &last_);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), testing::AllOf(HasSubstr("/job:ps/replica:0/task:3/device:CPU:0"), HasSubstr("/job:localhost/replica:0/task:0/device:CPU:0")));
}

TEST_F(VariableTest, TemporaryVariableLivesForOneStep) {
  Output t = Op("TemporaryVariable", {}, {{"dtype", kFloat}, {"shape", Shape{2}}, {"var_name", "t"}}).output();
  Output assigned = Op("Assign", {t, Const(std::vector<float>{1, 2})}).output();
  Output added = Op("AssignAdd", {assigned, Const(std::vector<float>{1, 1})}).output();
  Output value = Op("DestroyTemporaryVariable", {added}, {{"var_name", "t"}}).output();
  EXPECT_EQ(Run({value}), "float[2] 2 3");
  EXPECT_EQ(Run({value}), "float[2] 2 3");
}

}  // namespace
}  // namespace tandem
