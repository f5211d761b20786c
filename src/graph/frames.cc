#include "graph/frames.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tandem {

Frames FindFrames(const StepGraph& step) {
  Frames frames;
  std::map<std::pair<int, std::string>, int> known;
  for (int node = 0; node < static_cast<int>(step.nodes().size()); ++node) {
    const Node& n = *step.nodes()[node];
    int frame = Frames::kRoot;
    // A node may have inputs that are constants of an outer frame only by mistake; the innermost one counts.
    for (const StepGraph::Source& source : step.inputs(node)) {
      if (!source.is_feed() && source.node < node) frame = std::max(frame, frames.output_frame_[source.node]);
    }
    int output = frame;
    if (n.op_name() == "Enter" || n.op_name() == "RefEnter") {
      auto name = n.def.attr().find("frame_name");
      std::string text = name == n.def.attr().end() ? "" : name->second.s();
      auto [found, is_new] = known.emplace(std::make_pair(frame, text), frames.count());
      if (is_new) frames.frames_.push_back({frame, text});
      output = found->second;
    } else if (n.op_name() == "Exit" || n.op_name() == "RefExit") {
      output = frames.parent(frame);
    }
    frames.input_frame_.push_back(frame);
    frames.output_frame_.push_back(output);
  }
  return frames;
}

}  // namespace tandem
