#include "graph/prune.h"

#include "graph/test_graph.h"

namespace tandem {
namespace {

StatusOr<StepGraph> PruneFor(const Graph& graph, std::vector<std::string> feeds, std::vector<std::string> fetches, std::vector<std::string> targets = {}) {
  ASSIGN_OR_RETURN(StepSpec spec, ResolveStep(graph, feeds, fetches, targets));
  return Prune(graph, std::move(spec));
}

std::string NodesOf(const StatusOr<StepGraph>& step) {
  if (!step.ok()) return std::string(step.status().message());
  return absl::StrJoin(step->nodes(), " ", [](std::string* out, const Node* node) { absl::StrAppend(out, node->name()); });
}

TEST(Prune, KeepsWhatFetchesAndTargetsNeed) {
  std::unique_ptr<Graph> graph = GraphOf("a = Const\nb = Identity(a)\nc = Identity(b)\nd = NoOp(^a)\nunused = Identity(a)");
  EXPECT_EQ(NodesOf(PruneFor(*graph, {}, {"b:0"}, {"d"})), "a b d");
  EXPECT_EQ(NodesOf(PruneFor(*graph, {}, {}, {"d:0"})), "a d");
}

TEST(Prune, StopsAtFeeds) {
  std::unique_ptr<Graph> graph = GraphOf("a = Const\nb = Identity(a)\nc = Pack(b, a)");
  StatusOr<StepGraph> step = PruneFor(*graph, {"b:0", "a"}, {"c:0"});
  EXPECT_EQ(NodesOf(step), "c");
  EXPECT_EQ(step->inputs(0)[0].feed, 0);
  EXPECT_EQ(step->inputs(0)[1].feed, 1);
}

TEST(Prune, OtherOutputsOfAFedNodeStayComputed) {
  tensorflow::GraphDef def = GraphDefOf("p = Placeholder\nu = Unpack(p)\nj = Pack(u, u:1)");
  (*def.mutable_node(1)->mutable_attr())["num"].set_i(2);
  Graph graph;
  ASSERT_OK(ImportGraph(def, {}, &graph));
  StatusOr<StepGraph> step = PruneFor(graph, {"u:1"}, {"j:0"});
  EXPECT_EQ(NodesOf(step), "p u j");
  EXPECT_EQ(step->inputs(2)[0].node, 1);
  EXPECT_EQ(step->inputs(2)[1].feed, 0);
}

TEST(Prune, ControlEdgesOfAFedPlaceholderMoveToTheFeed) {
  std::unique_ptr<Graph> graph = GraphOf("p = Placeholder\nk = Const(^p)\ni = Identity(k, ^k)");
  StatusOr<StepGraph> step = PruneFor(*graph, {"p:0"}, {"i:0"});
  EXPECT_EQ(NodesOf(step), "k i");
  EXPECT_TRUE(step->inputs(0)[0].is_feed());
  EXPECT_TRUE(step->inputs(0)[0].is_control());
}

TEST(Prune, ControlEdgesOfOtherFedNodesStay) {
  std::unique_ptr<Graph> graph = GraphOf("k = Const\nj = Const(^k)");
  EXPECT_EQ(NodesOf(PruneFor(*graph, {"k:0"}, {"j:0"})), "k j");
}

TEST(Prune, ErrorsHaveTensorFlowsTexts) {
  std::unique_ptr<Graph> graph = GraphOf("x = Placeholder\ny = Identity(x)");
  EXPECT_EQ(NodesOf(PruneFor(*graph, {"x:0", "x:0"}, {"y:0"})), "Endpoint \"x:0\" fed more than once.");
  EXPECT_EQ(NodesOf(PruneFor(*graph, {"x:0"}, {"x:0"})), "x:0 is both fed and fetched.");
  EXPECT_EQ(NodesOf(PruneFor(*graph, {"x:0"}, {})), "Must specify at least one target to fetch or execute.");
  EXPECT_EQ(NodesOf(PruneFor(*graph, {}, {"zz:0"})), "FetchOutputs node zz:0: not found");
  EXPECT_EQ(NodesOf(PruneFor(*graph, {"zz:0"}, {"y:0"})), "FeedInputs: unable to find feed output zz:0");
  EXPECT_EQ(NodesOf(PruneFor(*graph, {}, {}, {"zz", "y", "yy"})), "PruneForTargets: Some target nodes not found: zz yy ");
  EXPECT_EQ(NodesOf(PruneFor(*graph, {}, {"y:3"})), "FetchOutputs y:3: output index too large, must be < 1");
  EXPECT_EQ(NodesOf(PruneFor(*graph, {}, {"y:999999999999"})), "FetchOutputs node y:999999999999: not found");
}

TEST(Prune, DoubleFetchesAreKeptOnce) {
  std::unique_ptr<Graph> graph = GraphOf("x = Const\ny = Identity(x)");
  std::vector<int> index;
  std::vector<std::string> fetches = {"y:0", "x:0", "y"};
  StatusOr<StepSpec> spec = ResolveStep(*graph, {}, fetches, {}, &index);
  ASSERT_OK(spec.status());
  EXPECT_EQ(spec->fetches.size(), 2u);
  EXPECT_EQ(index, (std::vector<int>{0, 1, 0}));
}

TEST(Prune, ConnectionsReplaceReaders) {
  std::unique_ptr<Graph> graph = GraphOf("x = Placeholder\ny = Identity(x)\nk = Const");
  StepSpec spec;
  spec.fetches = {*graph->FindOutput("y:0")};
  spec.connections = {{*graph->FindOutput("k:0"), *graph->FindOutput("x:0")}};
  EXPECT_EQ(NodesOf(Prune(*graph, spec)), "k y");
  spec.connections = {{*graph->FindOutput("y:0"), *graph->FindOutput("x:0")}};
  EXPECT_EQ(NodesOf(Prune(*graph, spec)), "Requested Tensor connection between nodes \"y\" and \"x\" would create a cycle.");
}

}  // namespace
}  // namespace tandem
