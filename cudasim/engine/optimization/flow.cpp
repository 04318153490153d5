#include "cudasim/engine/optimization/flow.h"

#include <algorithm>
#include <iterator>

namespace cudasim::engine::optimization {

using ptx::Operand;

std::vector<std::uint32_t> successors_of(const FlatBlock& block) {
  std::vector<std::uint32_t> successors = block.targets;
  if (block.next != kNoBlock) {
    successors.push_back(block.next);
  }
  return successors;
}

FlowGraph::FlowGraph(const FlatFunction& flat)
    : position(flat.blocks.size(), kNoBlock), predecessors(flat.blocks.size()) {
  struct Visit {
    std::uint32_t block;
    std::vector<std::uint32_t> successors;
    std::size_t next = 0;
  };
  std::vector<bool> seen(flat.blocks.size(), false);
  std::vector<Visit> stack;
  const auto enter = [&](std::uint32_t block) {
    seen[block] = true;
    stack.push_back({block, successors_of(flat.blocks[block])});
  };
  enter(0);
  while (!stack.empty()) {
    Visit& visit = stack.back();
    if (visit.next < visit.successors.size()) {
      const std::uint32_t successor = visit.successors[visit.next++];
      if (!seen[successor]) {
        enter(successor);
      }
    } else {
      order.push_back(visit.block);
      stack.pop_back();
    }
  }
  std::reverse(order.begin(), order.end());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    position[order[i]] = i;
  }
  for (const std::uint32_t block : order) {
    for (const std::uint32_t successor : successors_of(flat.blocks[block])) {
      predecessors[successor].push_back(block);
    }
  }
}

// Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
std::vector<std::uint32_t> immediate_dominators(const FlowGraph& flow) {
  std::vector<std::uint32_t> dominators(flow.position.size(), kNoBlock);
  dominators[flow.order[0]] = flow.order[0];
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 1; i < flow.order.size(); ++i) {
      const std::uint32_t block = flow.order[i];
      std::uint32_t common = kNoBlock;
      for (std::uint32_t other : flow.predecessors[block]) {
        if (dominators[other] == kNoBlock) {
          continue;
        }
        if (common == kNoBlock) {
          common = other;
        }
        while (common != other) {
          std::uint32_t& later =
              flow.position[common] > flow.position[other] ? common : other;
          later = dominators[later];
        }
      }
      changed |= dominators[block] != common;
      dominators[block] = common;
    }
  }
  return dominators;
}

bool dominates(
    const std::vector<std::uint32_t>& dominators,
    std::uint32_t above,
    std::uint32_t below) {
  while (below != above && dominators[below] != below) {
    below = dominators[below];
  }
  return below == above;
}

bool RegisterSet::insert_all(const RegisterSet& others) {
  bool more = false;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    more |= (others.words_[i] & ~words_[i]) != 0;
    words_[i] |= others.words_[i];
  }
  return more;
}

bool RegisterSet::insert_all_but(
    const RegisterSet& others,
    const RegisterSet& excepted) {
  bool more = false;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const std::uint64_t word = others.words_[i] & ~excepted.words_[i];
    more |= (word & ~words_[i]) != 0;
    words_[i] |= word;
  }
  return more;
}

std::vector<std::uint32_t> RegisterSet::members() const {
  std::vector<std::uint32_t> members;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    for (std::uint64_t left = words_[i]; left != 0; left &= left - 1) {
      members.push_back(
          static_cast<std::uint32_t>(64 * i + __builtin_ctzll(left)));
    }
  }
  return members;
}

void step_back(const Step& step, RegisterSet& live) {
  const ptx::Guard& guard = step.instruction.guard;
  if (guard.predicate.empty()) {
    for_each_register(
        step, [&](const Operand& operand, const OperandShape& shape, bool at) {
          if (shape.written && !at) {
            live.erase(register_number(operand.name));
          }
        });
  } else {
    live.insert(register_number(guard.predicate));
  }
  for_each_register(
      step, [&](const Operand& operand, const OperandShape& shape, bool at) {
        if (!shape.written || at) {
          live.insert(register_number(operand.name));
        }
      });
}

namespace {

/// What a block needs at its begin, whatever comes behind it, and what it
/// writes for sure.
struct Needs {
  Needs(const FlatBlock& block, std::size_t registers)
      : reads(registers), writes(registers) {
    for_each_register_at_end(
        block, [&](std::uint32_t reg) { reads.insert(reg); });
    for (std::size_t i = block.steps.size(); i-- > 0;) {
      const Step& step = block.steps[i];
      step_back(step, reads);
      if (step.instruction.guard.predicate.empty()) {
        for_each_register(
            step,
            [&](const Operand& operand, const OperandShape& shape, bool at) {
              if (shape.written && !at) {
                writes.insert(register_number(operand.name));
              }
            });
      }
    }
  }

  RegisterSet reads;
  RegisterSet writes;
};

} // namespace

Liveness::Liveness(const FlatFunction& flat, const FlowGraph& flow)
    : at_begin(flat.blocks.size()), at_end(flat.blocks.size()) {
  std::vector<Needs> needs;
  for (const std::uint32_t number : flow.order) {
    needs.emplace_back(flat.blocks[number], flat.registers.size());
    at_begin[number] = needs.back().reads;
    at_end[number] = RegisterSet(flat.registers.size());
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = flow.order.size(); i-- > 0;) {
      const std::uint32_t number = flow.order[i];
      bool more = false;
      for (const std::uint32_t next : successors_of(flat.blocks[number])) {
        more |= at_end[number].insert_all(at_begin[next]);
      }
      changed |= more &&
          at_begin[number].insert_all_but(at_end[number], needs[i].writes);
    }
  }
}

void merge_blocks(FlatFunction& flat) {
  const FlowGraph flow(flat);
  std::vector<std::uint32_t> ways_in(flat.blocks.size(), 0);
  for (std::uint32_t i = 0; i < flat.blocks.size(); ++i) {
    if (!flow.is_reached(i)) {
      flat.blocks[i] = FlatBlock();
      continue;
    }
    for (const std::uint32_t successor : successors_of(flat.blocks[i])) {
      ++ways_in[successor];
    }
  }
  std::vector<bool> is_gone(flat.blocks.size(), false);
  for (const std::uint32_t number : flow.order) {
    FlatBlock& block = flat.blocks[number];
    while (!is_gone[number] && block.targets.empty() &&
           block.next != kNoBlock && block.next != number && block.next != 0 &&
           ways_in[block.next] == 1) {
      const std::uint32_t next = block.next;
      FlatBlock& merged = flat.blocks[next];
      std::move(
          merged.steps.begin(),
          merged.steps.end(),
          std::back_inserter(block.steps));
      block.guard = std::move(merged.guard);
      block.index = std::move(merged.index);
      block.targets = std::move(merged.targets);
      block.next = merged.next;
      block.location = merged.location;
      merged = FlatBlock();
      is_gone[next] = true;
    }
  }
}

} // namespace cudasim::engine::optimization
