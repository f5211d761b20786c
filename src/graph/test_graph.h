// For the tests of this folder: graphs from short texts, and back.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "graph/graph_state.h"
#include "gtest/gtest.h"

#define ASSERT_OK(expression)                              \
  do {                                                     \
    ::tandem::Status tandem_test_status = (expression);    \
    ASSERT_TRUE(tandem_test_status.ok()) << tandem_test_status; \
  } while (false)

namespace tandem {

// "ps:0" for /job:ps/replica:0/task:0/device:CPU:0. Anything else stays.
inline std::string LongDevice(absl::string_view text) {
  std::vector<std::string> parts = absl::StrSplit(text, ':');
  if (parts.size() != 2 || parts[0].empty() || parts[0][0] == '/') return std::string(text);
  return absl::StrCat("/job:", parts[0], "/replica:0/task:", parts[1], "/device:CPU:0");
}
inline std::string ShortDevice(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"/job:", ""}, {"/replica:0/task:", ":"}, {"/device:CPU:0", ""}});
}

// A line is "name = Op(input, other:1, ^control) @device loc:label"; all but name and op may be missing. Everything is float; a Pack gets as
// many inputs as it has.
inline tensorflow::GraphDef GraphDefOf(absl::string_view text) {
  tensorflow::GraphDef graph;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipWhitespace())) {
    tensorflow::NodeDef* node = graph.add_node();
    std::pair<absl::string_view, absl::string_view> sides = absl::StrSplit(line, absl::MaxSplits(" = ", 1));
    node->set_name(std::string(absl::StripAsciiWhitespace(sides.first)));
    std::string rest(absl::StripAsciiWhitespace(sides.second));
    size_t open = rest.find('(');
    std::string words = rest;
    if (open != std::string::npos) {
      size_t close = rest.find(')');
      for (absl::string_view input : absl::StrSplit(rest.substr(open + 1, close - open - 1), ", ", absl::SkipEmpty())) node->add_input(std::string(input));
      words = absl::StrCat(rest.substr(0, open), " ", rest.substr(close + 1));
    }
    for (absl::string_view word : absl::StrSplit(words, ' ', absl::SkipEmpty())) {
      if (absl::ConsumePrefix(&word, "@")) {
        node->set_device(LongDevice(word));
      } else if (absl::StartsWith(word, "loc:")) {
        (*node->mutable_attr())["_class"].mutable_list()->add_s(absl::StrCat("loc:@", word.substr(4)));
      } else {
        node->set_op(std::string(word));
      }
    }
    auto& attr = *node->mutable_attr();
    const std::string& op = node->op();
    if (const Op* known = FindOp(op)) {
      for (const AttrDef& declared : known->def.attrs) {
        if (declared.type == "type" && !declared.has_default) attr[declared.name].set_type(tensorflow::DT_FLOAT);
      }
    }
    if (op == "VariableV2" || op == "VarHandleOp") attr["shape"].mutable_shape();
    if (op == "Const") {
      attr["value"].mutable_tensor()->set_dtype(tensorflow::DT_FLOAT);
      attr["value"].mutable_tensor()->mutable_tensor_shape();
    }
    if (op == "Pack") {
      int count = 0;
      for (const std::string& input : node->input()) count += input[0] != '^';
      attr["N"].set_i(count);
    }
  }
  return graph;
}

// Aborts the test if the text is no valid graph.
inline std::unique_ptr<Graph> GraphOf(absl::string_view text) {
  auto graph = std::make_unique<Graph>();
  Status status = ImportGraph(GraphDefOf(text), {}, graph.get());
  EXPECT_TRUE(status.ok()) << status;
  return graph;
}

inline std::string Describe(const tensorflow::NodeDef& node) {
  std::string op = node.op();
  if (op == "_Send" || op == "_Recv") {
    absl::StrAppend(&op, "[", node.attr().at("tensor_name").s(), " ", ShortDevice(node.attr().at("send_device").s()), ">", ShortDevice(node.attr().at("recv_device").s()),
                    node.attr().at("client_terminated").b() ? " client" : "", "]");
  }
  return absl::StrCat(node.name(), " = ", op, node.input_size() == 0 ? "" : absl::StrCat("(", absl::StrJoin(node.input(), ", "), ")"), " @", ShortDevice(node.device()));
}

inline std::string Describe(const tensorflow::GraphDef& graph) {
  std::vector<std::string> lines;
  for (const tensorflow::NodeDef& node : graph.node()) lines.push_back(Describe(node));
  return absl::StrJoin(lines, "\n");
}

}  // namespace tandem
