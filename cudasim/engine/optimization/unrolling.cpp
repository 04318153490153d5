#include "cudasim/engine/optimization/unrolling.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "cudasim/engine/optimization/inliner.h"

namespace cudasim::engine::optimization {
namespace {

using ptx::Operand;

/// Rounds of a loop and steps of all its copies, at most.
constexpr std::uint32_t kMostRounds = 128;
constexpr std::size_t kMostCopied = 8000;

/// A natural loop: all blocks from which `head` is reached without leaving it.
struct Loop {
  std::uint32_t head = 0;
  std::vector<std::uint32_t> backs; // blocks that go back to it
  std::set<std::uint32_t> blocks;
};

std::vector<Loop> loops_of(
    const FlowGraph& flow,
    const std::vector<std::uint32_t>& dominators) {
  std::map<std::uint32_t, Loop> loops;
  for (const std::uint32_t block : flow.order) {
    for (const std::uint32_t before : flow.predecessors[block]) {
      if (!dominates(dominators, block, before)) {
        continue;
      }
      Loop& loop = loops[block];
      loop.head = block;
      loop.backs.push_back(before);
      loop.blocks.insert(block);
      std::vector<std::uint32_t> left{before};
      while (!left.empty()) {
        const std::uint32_t next = left.back();
        left.pop_back();
        if (loop.blocks.insert(next).second) {
          left.insert(
              left.end(),
              flow.predecessors[next].begin(),
              flow.predecessors[next].end());
        }
      }
    }
  }
  std::vector<Loop> list;
  for (auto& [head, loop] : loops) {
    list.push_back(std::move(loop));
  }
  return list;
}

/// Finds how many rounds a loop has by executing what its condition is made of,
/// with what is known where the loop begins.
class RoundCounter {
 public:
  RoundCounter(
      const FlatFunction& flat,
      const FlowGraph& flow,
      const std::vector<std::uint32_t>& dominators,
      Values& values,
      const Loop& loop)
      : flat_(flat),
        flow_(flow),
        dominators_(dominators),
        values_(values),
        loop_(loop) {}

  std::optional<std::uint32_t> count() {
    begin();
    // Blocks that every round passes, in their order, are executed; all that
    // others write is unknown.
    std::vector<std::uint32_t> always;
    std::set<std::uint32_t> unknown;
    for (const std::uint32_t block : flow_.order) {
      if (loop_.blocks.count(block) == 0) {
        continue;
      }
      const bool is_always = std::all_of(
          loop_.backs.begin(), loop_.backs.end(), [&](std::uint32_t back) {
            return dominates(dominators_, block, back);
          });
      if (is_always) {
        always.push_back(block);
        continue;
      }
      for (const Step& step : flat_.blocks[block].steps) {
        for_each_register(
            step, [&](const Operand& operand, const OperandShape& shape, bool) {
              if (shape.written) {
                unknown.insert(register_number(operand.name));
              }
            });
      }
    }
    for (std::uint32_t round = 1; round <= kMostRounds; ++round) {
      for (const std::uint32_t number : always) {
        for (const std::uint32_t reg : unknown) {
          here_[reg] = Value();
        }
        const FlatBlock& block = flat_.blocks[number];
        for (const Step& step : block.steps) {
          values_.apply(step, here_);
        }
        const auto next = values_.successors(block, here_);
        const bool leaves =
            next.size() == 1 && loop_.blocks.count(next[0]) == 0;
        if (leaves) {
          return round;
        }
      }
    }
    return std::nullopt;
  }

 private:
  /// What holds on all ways into the loop.
  void begin() {
    bool is_first = true;
    for (const std::uint32_t before : flow_.predecessors[loop_.head]) {
      if (loop_.blocks.count(before) != 0 || !values_.is_reached(before)) {
        continue;
      }
      const ValuesHere& end = values_.at_end(before);
      if (is_first) {
        here_ = end;
      } else {
        for (std::size_t i = 0; i < end.size(); ++i) {
          here_[i] = values_.meet(here_[i], end[i]);
        }
      }
      is_first = false;
    }
    if (is_first) {
      here_.assign(flat_.registers.size(), Value());
    }
  }

  const FlatFunction& flat_;
  const FlowGraph& flow_;
  const std::vector<std::uint32_t>& dominators_;
  Values& values_;
  const Loop& loop_;
  ValuesHere here_;
};

/// Appends copies of a loop's blocks.
void peel(FlatFunction& flat, const Loop& loop, std::uint32_t rounds) {
  std::vector<std::map<std::uint32_t, std::uint32_t>> copies(rounds);
  for (auto& copy : copies) {
    for (const std::uint32_t block : loop.blocks) {
      copy[block] = static_cast<std::uint32_t>(flat.blocks.size());
      flat.blocks.emplace_back();
    }
  }
  const auto head_of = [&](std::uint32_t round) {
    return round < rounds ? copies[round].at(loop.head) : loop.head;
  };
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const auto target = [&](std::uint32_t block) {
      if (block == loop.head) {
        return head_of(round + 1);
      }
      const auto found = copies[round].find(block);
      return found == copies[round].end() ? block : found->second;
    };
    for (const auto& [original, copy] : copies[round]) {
      const FlatBlock& from = flat.blocks[original];
      FlatBlock& to = flat.blocks[copy];
      for (const Step& step : from.steps) {
        to.steps.push_back(copy_of(step));
      }
      to.guard = from.guard;
      to.location = from.location;
      if (from.index != nullptr) {
        to.index = std::make_unique<Operand>(*from.index);
      }
      for (const std::uint32_t block : from.targets) {
        to.targets.push_back(target(block));
      }
      to.next = from.next == kNoBlock ? kNoBlock : target(from.next);
    }
  }
  const std::size_t first_copy = copies[0].begin()->second;
  const std::size_t copied = rounds * loop.blocks.size();
  for (std::size_t i = 0; i < flat.blocks.size(); ++i) {
    const bool is_copy = i >= first_copy && i < first_copy + copied;
    if (is_copy || loop.blocks.count(static_cast<std::uint32_t>(i)) != 0) {
      continue;
    }
    FlatBlock& block = flat.blocks[i];
    for (std::uint32_t& target : block.targets) {
      target = target == loop.head ? head_of(0) : target;
    }
    block.next = block.next == loop.head ? head_of(0) : block.next;
  }
}

} // namespace

bool unroll_loops(
    FlatFunction& flat,
    const FlowGraph& flow,
    Values& values,
    const std::set<std::uint32_t>& wanted) {
  const auto dominators = immediate_dominators(flow);
  std::vector<Loop> loops = loops_of(flow, dominators);
  std::sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) {
    return a.blocks.size() < b.blocks.size();
  });
  // What is known at the loops' begins is asked before any of them changes.
  std::vector<std::pair<const Loop*, std::uint32_t>> chosen;
  std::set<std::uint32_t> taken;
  std::size_t left =
      2 * kMostSteps - std::min(2 * kMostSteps, flat.count_steps());
  for (const Loop& loop : loops) {
    const auto is_in = [&](std::uint32_t block) {
      return loop.blocks.count(block) != 0;
    };
    // The first block has a way in that is no edge.
    if (loop.head == 0 || std::none_of(wanted.begin(), wanted.end(), is_in) ||
        std::any_of(taken.begin(), taken.end(), is_in)) {
      continue;
    }
    std::size_t steps = 0;
    for (const std::uint32_t block : loop.blocks) {
      steps += flat.blocks[block].steps.size() + 1;
    }
    const auto rounds =
        RoundCounter(flat, flow, dominators, values, loop).count();
    if (rounds && *rounds * steps <= std::min(kMostCopied, left)) {
      left -= *rounds * steps;
      chosen.emplace_back(&loop, *rounds);
      taken.insert(loop.blocks.begin(), loop.blocks.end());
    }
  }
  for (const auto& [loop, rounds] : chosen) {
    peel(flat, *loop, rounds);
  }
  return !chosen.empty();
}

} // namespace cudasim::engine::optimization
