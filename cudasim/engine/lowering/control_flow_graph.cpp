#include "cudasim/engine/lowering/control_flow_graph.h"

#include <algorithm>

namespace cudasim::engine {

ControlFlowGraph ControlFlowGraph::build(const std::vector<FlowEdge>& edges) {
  const auto count = static_cast<std::uint32_t>(edges.size());
  std::vector<bool> leads(count + 1, false);
  leads[0] = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (edges[i].ends_block) {
      leads[i + 1] = true;
    }
    for (const std::uint32_t target : edges[i].targets) {
      leads[target] = true;
    }
  }
  ControlFlowGraph graph;
  graph.block_of.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (leads[i]) {
      graph.blocks.emplace_back();
      graph.blocks.back().begin = i;
    }
    graph.blocks.back().end = i + 1;
    graph.block_of[i] = static_cast<std::uint32_t>(graph.blocks.size() - 1);
  }
  for (BasicBlock& block : graph.blocks) {
    const FlowEdge& last = edges[block.end - 1];
    for (const std::uint32_t target : last.targets) {
      block.successors.push_back(graph.block_of[target]);
    }
    if (last.falls_through && block.end < count) {
      block.successors.push_back(graph.block_of[block.end]);
    }
    std::sort(block.successors.begin(), block.successors.end());
    block.successors.erase(
        std::unique(block.successors.begin(), block.successors.end()),
        block.successors.end());
  }
  return graph;
}

// Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", on the
// reversed graph.
std::vector<std::uint32_t> ControlFlowGraph::immediate_post_dominators() const {
  const auto count = static_cast<std::uint32_t>(blocks.size());
  const std::uint32_t exit = count;
  std::vector<std::vector<std::uint32_t>> predecessors(count + 1);
  for (std::uint32_t block = 0; block < count; ++block) {
    for (const std::uint32_t successor : blocks[block].successors) {
      predecessors[successor].push_back(block);
    }
    if (blocks[block].successors.empty()) {
      predecessors[exit].push_back(block);
    }
  }
  // Post-order of a walk from the exit against the edges.
  constexpr std::uint32_t kUnvisited = 0xffffffffu;
  std::vector<std::uint32_t> number(count + 1, kUnvisited);
  std::vector<std::uint32_t> order;
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{exit, 0}};
  std::vector<bool> seen(count + 1, false);
  seen[exit] = true;
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next < predecessors[node].size()) {
      const std::uint32_t before = predecessors[node][next++];
      if (!seen[before]) {
        seen[before] = true;
        stack.emplace_back(before, 0);
      }
    } else {
      number[node] = static_cast<std::uint32_t>(order.size());
      order.push_back(node);
      stack.pop_back();
    }
  }
  std::vector<std::uint32_t> dominator(count + 1, kUnvisited);
  dominator[exit] = exit;
  const auto meet = [&](std::uint32_t a, std::uint32_t b) {
    while (a != b) {
      while (number[a] < number[b]) {
        a = dominator[a];
      }
      while (number[b] < number[a]) {
        b = dominator[b];
      }
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const std::uint32_t node = *it;
      if (node == exit) {
        continue;
      }
      std::uint32_t found = kUnvisited;
      const auto consider = [&](std::uint32_t successor) {
        if (dominator[successor] != kUnvisited) {
          found = found == kUnvisited ? successor : meet(found, successor);
        }
      };
      for (const std::uint32_t successor : blocks[node].successors) {
        consider(successor);
      }
      if (blocks[node].successors.empty()) {
        consider(exit);
      }
      if (found != dominator[node]) {
        dominator[node] = found;
        changed = true;
      }
    }
  }
  dominator.resize(count);
  // An endless loop never gets to the exit: its lanes meet nowhere.
  std::replace(dominator.begin(), dominator.end(), kUnvisited, exit);
  return dominator;
}

} // namespace cudasim::engine
