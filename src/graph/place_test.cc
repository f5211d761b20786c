#include "graph/place.h"

#include "graph/test_graph.h"

namespace tandem {
namespace {

PlacementOptions TwoTasks(bool soft = false) {
  PlacementOptions options;
  options.devices = {{LongDevice("worker:0"), "CPU"}, {LongDevice("ps:0"), "CPU"}};
  options.master_task = "/job:worker/replica:0/task:0";
  options.allow_soft_placement = soft;
  return options;
}

// "a=worker:0 b=ps:0", or the first error.
std::string Place(Graph* graph, const PlacementOptions& options = TwoTasks()) {
  PlacementErrors errors = PlaceGraph(options, graph);
  std::string text;
  for (const auto& node : graph->nodes()) {
    Node* one = node.get();
    Status status = errors.Check({&one, 1});
    if (!status.ok()) return std::string(status.message());
    absl::StrAppend(&text, text.empty() ? "" : " ", node->name(), "=", ShortDevice(node->assigned_device));
  }
  return text;
}
std::string Place(absl::string_view text, const PlacementOptions& options = TwoTasks()) { return Place(GraphOf(text).get(), options); }

TEST(Place, FreeNodesGoToTheMastersTask) { EXPECT_EQ(Place("p = Placeholder\ni = Identity(p)"), "p=worker:0 i=worker:0"); }

TEST(Place, RequestsMayBePartial) { EXPECT_EQ(Place("p = Placeholder @/job:ps\ni = Identity(p) @/job:worker/task:0"), "p=ps:0 i=worker:0"); }

TEST(Place, ColocatedNodesShareADevice) {
  EXPECT_EQ(Place("p = Placeholder @/job:ps\ni = Identity(p) loc:p\nj = Identity(p) loc:label\nk = Identity(p) loc:label @/job:ps"), "p=ps:0 i=ps:0 j=ps:0 k=ps:0");
}

TEST(Place, ColocatedNodesMustAgree) {
  EXPECT_EQ(Place("k = Placeholder @/job:worker\nas = Identity(k) loc:k @/job:ps"),
            "Cannot colocate nodes {{colocation_node as}} and {{colocation_node k}}: Cannot merge devices with incompatible jobs: '/job:worker' and '/job:ps'"
            "\n\t [[{{node as}}]]");
}

TEST(Place, SoftPlacementIgnoresImpossibleColocation) {
  EXPECT_EQ(Place("k = Placeholder @/job:worker\nas = Identity(k) loc:k @/job:ps", TwoTasks(true)), "k=worker:0 as=ps:0");
}

TEST(Place, ReferencesPullTheirReadersAlong) {
  EXPECT_EQ(Place("v = VariableV2 @/job:ps\nx = Placeholder\nset = Assign(v, x) @/job:worker\nread = Identity(v)"), "v=ps:0 x=ps:0 set=ps:0 read=worker:0");
}

TEST(Place, ResourcesPullTheirReadersAlong) {
  EXPECT_EQ(Place("x = Placeholder\nv = VarHandleOp @/job:ps\nset = AssignVariableOp(v, x)\nread = ReadVariableOp(v) @/job:worker"), "x=ps:0 v=ps:0 set=ps:0 read=ps:0");
}

TEST(Place, ConstantsFollowTheirReaders) {
  EXPECT_EQ(Place("k = Const\nv = VariableV2 @/job:ps\nset = Assign(v, k)\nfree = Const\nboth = Const\nx = Identity(both) @/job:ps\ny = Identity(both)"),
            "k=ps:0 v=ps:0 set=ps:0 free=worker:0 both=worker:0 x=ps:0 y=worker:0");
}

TEST(Place, ShapesAreReadWhereTheTensorIs) { EXPECT_EQ(Place("p = Placeholder @/job:ps\ns = Shape(p)\nt = Shape(p) @/job:worker"), "p=ps:0 s=ps:0 t=worker:0"); }

TEST(Place, ErrorsNameNodeRequestAndDevices) {
  EXPECT_EQ(Place("x = Placeholder @/job:nope"),
            "Cannot assign a device for operation x: {{node x}} was explicitly assigned to /job:nope but available devices are [ /job:ps/replica:0/task:0/device:CPU:0, "
            "/job:worker/replica:0/task:0/device:CPU:0 ]. Make sure the device specification refers to a valid device.\n\t [[{{node x}}]]");
  EXPECT_EQ(Place("x = Placeholder @/what"), "Malformed device specification '/what' in node: x\n\t [[{{node x}}]]");
}

TEST(Place, OnlyStepsThatNeedANodeFail) {
  std::unique_ptr<Graph> graph = GraphOf("good = Placeholder\nbad = Placeholder @/job:nope\nafter = Identity(bad) @/job:ps\nwith = Identity(good) loc:bad");
  PlacementErrors errors = PlaceGraph(TwoTasks(), graph.get());
  auto check = [&](const char* name) {
    Node* node = graph->FindNode(name);
    return errors.Check({&node, 1}).ok();
  };
  EXPECT_TRUE(check("good"));
  EXPECT_FALSE(check("bad"));
  EXPECT_TRUE(check("after"));
  EXPECT_FALSE(check("with"));
}

TEST(Place, MissingGpuIsAnErrorUnlessSoft) {
  EXPECT_TRUE(absl::StartsWith(Place("x = Placeholder @/job:ps/gpu:0"), "Cannot assign a device for operation x: {{node x}} was explicitly assigned to /job:ps/device:GPU:0"));
  EXPECT_EQ(Place("x = Placeholder @/job:ps/gpu:0", TwoTasks(true)), "x=ps:0");
  EXPECT_NE(Place("x = Placeholder @/job:nope/gpu:0", TwoTasks(true)), "x=ps:0");
}

TEST(Place, StatefulNodesKeepTheirDevice) {
  std::unique_ptr<Graph> graph = GraphOf("v = VariableV2\ni = Identity(v)");
  EXPECT_EQ(Place(graph.get()), "v=worker:0 i=worker:0");
  ASSERT_OK(ImportGraph(GraphDefOf("k = Placeholder @/job:ps\nset = Assign(v, k) loc:k"), {}, graph.get()));
  EXPECT_EQ(Place(graph.get()), "v=worker:0 i=worker:0 k=worker:0 set=worker:0");
}

TEST(Place, LargeGraphsTakeLittleTime) {
  tensorflow::GraphDef def = GraphDefOf("v = VariableV2 @/job:ps\nx0 = Identity(v)");
  for (int i = 1; i < 20000; ++i) {
    tensorflow::NodeDef* node = def.add_node();
    *node = def.node(1);
    node->set_name(absl::StrCat("x", i));
    node->set_input(0, absl::StrCat("x", i - 1));
    (*node->mutable_attr())["_class"].mutable_list()->add_s(absl::StrCat("loc:@x", i - 1));
  }
  Graph graph;
  ASSERT_OK(ImportGraph(def, {}, &graph));
  EXPECT_TRUE(PlaceGraph(TwoTasks(), &graph).empty());
  EXPECT_EQ(ShortDevice(graph.nodes().back()->assigned_device), "worker:0");
}

}  // namespace
}  // namespace tandem
