#include "graph/graph_state.h"
#include "graph/test_graph.h"

namespace tandem {
namespace {

Status Import(absl::string_view text, Graph* graph) { return ImportGraph(GraphDefOf(text), {}, graph); }

Status ImportError(absl::string_view text) {
  Graph graph;
  Status status = Import(text, &graph);
  EXPECT_TRUE(graph.nodes().empty());
  return status;
}

TEST(Import, NodesMayComeInAnyOrder) {
  std::unique_ptr<Graph> graph = GraphOf("b = Identity(a)\na = Const\nc = Pack(b, a, ^b)");
  ASSERT_EQ(graph->nodes().size(), 3u);
  EXPECT_EQ(graph->nodes()[0]->name(), "a");
  EXPECT_EQ(graph->FindNode("b")->inputs[0].node, graph->FindNode("a"));
  EXPECT_EQ(graph->FindNode("c")->control_inputs, std::vector<Node*>{graph->FindNode("b")});
}

TEST(Import, MayExtendAGraph) {
  std::unique_ptr<Graph> graph = GraphOf("a = Const");
  ASSERT_OK(Import("b = Identity(a)", graph.get()));
  EXPECT_EQ(graph->FindNode("b")->inputs[0].node, graph->FindNode("a"));
  EXPECT_EQ(graph->FindNode("b")->id, 1);
}

TEST(Import, AnErrorAddsNothing) {
  std::unique_ptr<Graph> graph = GraphOf("a = Const");
  EXPECT_FALSE(Import("b = Identity(a)\nc = Identity(nothing)", graph.get()).ok());
  EXPECT_EQ(graph->nodes().size(), 1u);
  EXPECT_EQ(graph->FindNode("b"), nullptr);
  ASSERT_OK(Import("b = Identity(a)", graph.get()));
}

TEST(Import, ErrorsHaveTensorFlowsTexts) {
  auto message = [](absl::string_view text) { return std::string(ImportError(text).message()); };
  EXPECT_EQ(message("a b = Const"), "Illegal op name 'a b'\n\t [[{{node a b}}]]");
  EXPECT_EQ(message("_a = Const"), "Illegal op name '_a'\n\t [[{{node _a}}]]");
  EXPECT_EQ(message("x = Const\nx = Const"), "Node 'x' is not unique");
  EXPECT_EQ(message("sw = Identity(qq)"), "Node 'sw': Unknown input node 'qq'");
  EXPECT_EQ(message("x = Const\nsw = Identity(^x, x)"), "All control inputs must follow all data inputs\n\t [[{{node sw}}]]");
  EXPECT_EQ(message("x = Const\nsw = Pack(x, x)\nsx = Identity(x, x)"), "Input 1 of node sx does not exist. Node only has 1 inputs.");
  EXPECT_EQ(message("a = Identity(b)\nb = Identity(a)"), "2 nodes in a cycle");
  EXPECT_EQ(message("x = Const\ny = Identity(x:1)"), "Node 'y': Connecting to invalid output 1 of source node x which has 1 outputs.");
}

TEST(Import, TypesMustFit) {
  tensorflow::GraphDef def = GraphDefOf("k = Const\nas = Identity(k)");
  (*def.mutable_node(1)->mutable_attr())["T"].set_type(tensorflow::DT_DOUBLE);
  Graph graph;
  EXPECT_EQ(ImportGraph(def, {}, &graph).message(), "Input 0 of node as was passed float from k:0 incompatible with expected double.");
}

TEST(Import, AReferenceFeedsAValueButNotTheReverse) {
  std::unique_ptr<Graph> graph = GraphOf("v = VariableV2\nread = Identity(v)\nk = Const\nset = Assign(v, k)");
  EXPECT_EQ(graph->FindNode("v")->output_types[0], MakeRef(kFloat));
  EXPECT_EQ(ImportError("k = Const\nset = Assign(k, k)").message(), "Input 0 of node set was passed float from k:0 incompatible with expected float_ref.");
}

TEST(Import, MissingAttrIsNotFound) {
  tensorflow::GraphDef def = GraphDefOf("x = Placeholder");
  def.mutable_node(0)->mutable_attr()->erase("dtype");
  Graph graph;
  Status status = ImportGraph(def, {}, &graph);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "No attr named 'dtype' in NodeDef:\n\t [[{{node x}}]]");
}

TEST(Import, AttrsGetDefaultsAndUnknownOnesStay) {
  tensorflow::GraphDef def = GraphDefOf("v = VariableV2");
  (*def.mutable_node(0)->mutable_attr())["from_the_future"].set_i(3);
  Graph graph;
  ASSERT_OK(ImportGraph(def, {}, &graph));
  EXPECT_EQ(graph.FindNode("v")->attrs().GetString("shared_name"), "");
  EXPECT_EQ(graph.FindNode("v")->def.attr().at("from_the_future").i(), 3);
}

TEST(Import, AttrsAreChecked) {
  tensorflow::GraphDef def = GraphDefOf("k = Const\np = Pack(k)");
  (*def.mutable_node(1)->mutable_attr())["N"].set_i(0);
  Graph graph;
  EXPECT_EQ(ImportGraph(def, {}, &graph).message(), "Value for attr 'N' of 0 must be at least minimum 1\n\t [[{{node p}}]]");
  (*def.mutable_node(1)->mutable_attr())["N"].set_s("three");
  EXPECT_EQ(ImportGraph(def, {}, &graph).code(), absl::StatusCode::kInvalidArgument);
  (*def.mutable_node(1)->mutable_attr())["N"].set_i(int64_t{1} << 60);
  EXPECT_EQ(ImportGraph(def, {}, &graph).code(), absl::StatusCode::kInvalidArgument);
}

TEST(Import, UnknownOpsAreRefusedOrKept) {
  Status status = ImportError("x = NoSuchOp");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(absl::StartsWith(status.message(), "Op type not registered 'NoSuchOp'")) << status;
  Graph graph;
  ASSERT_OK(ImportGraph(GraphDefOf("k = Const\nx = NoSuchOp(k)\ny = Identity(x:2)"), {.keep_unknown_ops = true}, &graph));
  EXPECT_EQ(graph.FindNode("x")->op, nullptr);
  EXPECT_EQ(graph.FindNode("y")->inputs[0].index, 2);
}

TEST(Import, PrefixGoesInFrontOfNamesAndColocations) {
  Graph graph;
  ASSERT_OK(ImportGraph(GraphDefOf("v = VariableV2\nread = Identity(v) loc:v"), {.prefix = "copy"}, &graph));
  EXPECT_EQ(graph.FindNode("copy/read")->inputs[0].node, graph.FindNode("copy/v"));
  EXPECT_EQ(graph.FindNode("copy/read")->attrs().GetStrings("_class"), std::vector<std::string>{"loc:@copy/v"});
}

TEST(Import, NewerConsumersAreRefused) {
  tensorflow::GraphDef def;
  def.mutable_versions()->set_min_consumer(1000000);
  Graph graph;
  EXPECT_EQ(ImportGraph(def, {}, &graph).code(), absl::StatusCode::kInvalidArgument);
}

TEST(Import, BuilderAvoidsImportedNames) {
  std::unique_ptr<Graph> graph = GraphOf("scope/x = Const");
  EXPECT_EQ(graph->UniqueName("scope/x"), "scope/x_1");
  EXPECT_EQ(graph->UniqueName("scope"), "scope_1");
}

TEST(Export, GivesTheGraphBack) {
  tensorflow::GraphDef given = GraphDefOf("k = Const @ps:0\nu = Unpack(p)\np = Pack(k, k)\nj = Pack(u:1, u, ^k)");
  (*given.mutable_node(1)->mutable_attr())["num"].set_i(2);
  Graph graph;
  ASSERT_OK(ImportGraph(given, {}, &graph));
  tensorflow::GraphDef def;
  ExportGraph(graph, 0, &def);
  EXPECT_EQ(Describe(def), "k = Const @ps:0\np = Pack(k, k) @\nu = Unpack(p) @\nj = Pack(u:1, u, ^k) @");
}

TEST(Export, LeavesOutDefaultsIfAsked) {
  std::unique_ptr<Graph> graph = GraphOf("v = VariableV2");
  tensorflow::NodeDef def;
  ExportNode(*graph->FindNode("v"), &def, /*strip_defaults=*/true);
  EXPECT_FALSE(def.attr().contains("shared_name"));
  EXPECT_TRUE(def.attr().contains("dtype"));
  ExportNode(*graph->FindNode("v"), &def);
  EXPECT_TRUE(def.attr().contains("shared_name"));
}

TEST(TopologicalOrder, CountsNodesOfACycle) {
  Graph graph;
  tensorflow::GraphDef def = GraphDefOf("a = Identity(b)\nb = Identity(a)\nc = Const\nd = Identity(c)");
  EXPECT_EQ(ImportGraph(def, {}, &graph).message(), "2 nodes in a cycle");
}

}  // namespace
}  // namespace tandem
