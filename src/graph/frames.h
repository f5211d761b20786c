// Which loop each node of a step belongs to.
#pragma once

#include <string>
#include <vector>

#include "graph/prune.h"

namespace tandem {

// Loops form a tree: an Enter leads from the frame of its input into one below, an Exit back.
class Frames {
 public:
  static constexpr int kRoot = 0;

  // Where the inputs of a node are, and where its outputs are. They differ for Enter and Exit.
  int InputFrame(int node) const { return input_frame_[node]; }
  int OutputFrame(int node) const { return output_frame_[node]; }
  int parent(int frame) const { return frames_[frame].parent; }
  // Attr frame_name of its Enters; empty for the root.
  const std::string& name(int frame) const { return frames_[frame].name; }
  int count() const { return static_cast<int>(frames_.size()); }

 private:
  friend Frames FindFrames(const StepGraph& step);
  struct Frame {
    int parent;
    std::string name;
  };
  std::vector<Frame> frames_{{kRoot, ""}};
  std::vector<int> input_frame_, output_frame_;
};

Frames FindFrames(const StepGraph& step);

}  // namespace tandem
