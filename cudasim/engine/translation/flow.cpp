#include "cudasim/engine/translation/flow.h"

#include <algorithm>

namespace cudasim::engine {
namespace {

bool is_register(Slot slot) {
  return slot != kNoSlot && (slot & kConstantBit) == 0;
}

FlowEdge edge_of(const Inst& inst, const Control* control) {
  FlowEdge edge;
  if (control == nullptr) {
    return edge;
  }
  const bool guarded = inst.guard != kNoSlot;
  switch (control->kind) {
    case ControlKind::kBranch:
      edge = {true, guarded, {control->target}};
      break;
    case ControlKind::kIndexedBranch:
      edge = {true, true, control->targets};
      break;
    case ControlKind::kReturn:
    case ControlKind::kExit:
    case ControlKind::kTrap:
      edge = {true, guarded, {}};
      break;
    case ControlKind::kCall:
    case ControlKind::kBarrier:
    case ControlKind::kBarrierArrive:
    case ControlKind::kWarpBarrier:
    case ControlKind::kCollective:
      break;
  }
  return edge;
}

} // namespace

CodeFlow::CodeFlow(const Code& code) : code_(code) {
  std::vector<FlowEdge> edges;
  for (const Inst& inst : code.instructions) {
    const Control* const control = control_at(inst.index);
    edges.push_back(edge_of(inst, control));
    SlotAccess access;
    const auto read = [&](Slot slot) {
      if (is_register(slot)) {
        access.reads.push_back(slot);
      }
    };
    // Those of long instructions stay in the frame.
    for (std::uint32_t k = 0; k < inst.more_count; ++k) {
      if (is_register(inst.more[k])) {
        widths_[inst.more[k]] = -1;
      }
    }
    const std::uint32_t count = inst.more_count != 0
        ? inst.more_count
        : static_cast<std::uint32_t>(kOperands);
    for (std::uint32_t k = 0; k < count; ++k) {
      const Slot slot = inst.more_count != 0 ? inst.more[k] : inst.operands[k];
      if (!is_register(slot)) {
        continue;
      }
      if (k >= inst.destinations) {
        read(slot);
        continue;
      }
      access.writes.push_back(slot);
      if (inst.guard != kNoSlot) {
        read(slot); // what is there may stay
      }
    }
    read(inst.guard);
    if (inst.guard != kNoSlot) {
      widths_[inst.guard] = 0;
    }
    if (control != nullptr) {
      for (const Slot slot :
           {control->members,
            control->barrier,
            control->thread_count,
            control->reduced,
            control->contribution}) {
        read(slot);
      }
    }
    for (int k = 0; k < kOperands && inst.more_count == 0; ++k) {
      if (is_register(inst.operands[k])) {
        const auto [place, is_new] =
            widths_.emplace(inst.operands[k], inst.widths[k]);
        if (!is_new && place->second != inst.widths[k]) {
          place->second = -1;
        }
      }
    }
    accesses_.push_back(std::move(access));
  }
  graph_ = ControlFlowGraph::build(edges);
  live_in_.resize(graph_.blocks.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = graph_.blocks.size(); b-- > 0;) {
      const BasicBlock& block = graph_.blocks[b];
      Slots live;
      for (const std::uint32_t successor : block.successors) {
        live.insert(live_in_[successor].begin(), live_in_[successor].end());
      }
      for (std::uint32_t pc = block.end; pc-- > block.begin;) {
        step_back(live, pc);
      }
      if (live.size() != live_in_[b].size()) {
        live_in_[b] = std::move(live);
        changed = true;
      }
    }
  }
}

const Control* CodeFlow::control_at(std::uint32_t pc) const {
  return code_.instructions[pc].run == control_instruction
      ? &code_.controls[code_.control_of[pc]]
      : nullptr;
}

void CodeFlow::step_back(Slots& live, std::uint32_t pc) const {
  for (const Slot slot : accesses_[pc].writes) {
    live.erase(slot);
  }
  live.insert(accesses_[pc].reads.begin(), accesses_[pc].reads.end());
}

Slots CodeFlow::live_at(std::uint32_t pc) const {
  const BasicBlock& block = graph_.blocks[graph_.block_of[pc]];
  Slots live;
  for (const std::uint32_t successor : block.successors) {
    live.insert(live_in_[successor].begin(), live_in_[successor].end());
  }
  for (std::uint32_t at = block.end; at-- > pc;) {
    step_back(live, at);
  }
  return live;
}

int CodeFlow::width_of(Slot slot) const {
  const auto found = widths_.find(slot);
  return found == widths_.end() ? -1 : found->second;
}

} // namespace cudasim::engine
