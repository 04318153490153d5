// The control flow graph of a function and where diverging lanes meet again.
#pragma once

#include <cstdint>
#include <vector>

namespace cudasim::engine {

/// Instructions [begin, end) that are executed one after the other.
struct BasicBlock {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::vector<std::uint32_t> successors; // blocks; none: the function ends
};

/// One instruction as far as control flow is concerned.
struct FlowEdge {
  bool ends_block = false; // a branch, return or exit
  bool falls_through = true; // whether the next instruction can follow
  std::vector<std::uint32_t> targets; // instructions
};

struct ControlFlowGraph {
  std::vector<BasicBlock> blocks;
  std::vector<std::uint32_t> block_of; // of each instruction

  /// @param edges one for each instruction.
  static ControlFlowGraph build(const std::vector<FlowEdge>& edges);

  /// The immediate post-dominator of each block; blocks.size() stands for the
  /// end of the function. Also that for blocks that never get there.
  std::vector<std::uint32_t> immediate_post_dominators() const;
};

} // namespace cudasim::engine
