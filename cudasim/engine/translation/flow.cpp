#include "cudasim/engine/translation/flow.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

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

bool immediate(const Code& code, Slot slot, int bytes, std::uint64_t* value) {
  if (slot == kNoSlot || (slot & kConstantBit) == 0 ||
      (bytes != 2 && bytes != 4 && bytes != 8) ||
      code.addresses.count(slot) != 0) {
    return false;
  }
  const std::byte* const place = code.constants.get() + (slot & ~kConstantBit);
  const auto size = static_cast<std::size_t>(bytes);
  *value = 0;
  std::memcpy(value, place, size);
  for (int lane = 1; lane < kLanes; ++lane) {
    if (std::memcmp(place, place + lane * bytes, size) != 0) {
      return false;
    }
  }
  return true;
}

CodeFlow::CodeFlow(const Code& code) : code_(code) {
  std::vector<FlowEdge> edges;
  for (const Inst& inst : code.instructions) {
    const Control* const control = control_at(inst.index);
    edges.push_back(edge_of(inst, control));
    for (const std::uint32_t target : edges.back().targets) {
      branches_.emplace_back(inst.index, target);
    }
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
  find_constants();
}

/// The number that an operand has in all lanes.
bool CodeFlow::number_of(
    const Constants& constants,
    Slot slot,
    int bytes,
    std::uint64_t* value) const {
  if (!is_register(slot)) {
    return immediate(code_, slot, bytes, value);
  }
  const auto found = constants.find(slot);
  if (found == constants.end() || width_of(slot) != bytes) {
    return false;
  }
  *value = found->second;
  return true;
}

/// What an instruction writes, where its operands are known: as nvcc computes
/// the bounds of a shuffle from WARP_SZ.
bool CodeFlow::result_of(
    const Constants& constants,
    std::uint32_t pc,
    std::uint64_t* value) const {
  const Inst& inst = code_.instructions[pc];
  const std::string& text = code_.texts[pc];
  const int bytes = inst.widths[0];
  if (inst.more_count != 0 || inst.destinations != 1 || inst.guard != kNoSlot ||
      !is_register(inst.operands[0]) ||
      (bytes != 2 && bytes != 4 && bytes != 8) || inst.widths[1] != bytes ||
      !number_of(constants, inst.operands[1], bytes, value)) {
    return false;
  }
  if (inst.operands[2] == kNoSlot) {
    return text.rfind("mov.", 0) == 0;
  }
  const std::size_t dot = text.rfind('.');
  if (dot == std::string::npos || text.find_first_of("sub", dot) != dot + 1) {
    return false; // numbers that are not integers
  }
  const bool shifts = text == "shl.b32" || text == "shl.b64";
  if (inst.operands[3] != kNoSlot || bytes == 2 ||
      text.compare(dot + 2, std::string::npos, bytes == 4 ? "32" : "64") != 0 ||
      inst.widths[2] != (shifts ? 4 : bytes)) {
    return false;
  }
  std::uint64_t second = 0;
  if (!number_of(constants, inst.operands[2], inst.widths[2], &second)) {
    return false;
  }
  const std::string operation = text.substr(0, dot);
  if (shifts) {
    *value = second < 64 ? *value << second : 0;
  } else if (operation == "add") {
    *value += second;
  } else if (operation == "sub") {
    *value -= second;
  } else if (operation == "mul.lo") {
    *value *= second;
  } else if (operation == "and") {
    *value &= second;
  } else if (operation == "or") {
    *value |= second;
  } else {
    return false;
  }
  *value &= bytes == 4 ? 0xffffffffu : ~std::uint64_t{0};
  return true;
}

/// What is known behind an instruction.
void CodeFlow::step(Constants& constants, std::uint32_t pc) const {
  std::uint64_t value = 0;
  const bool known = result_of(constants, pc, &value);
  for (const Slot slot : accesses_[pc].writes) {
    constants.erase(slot);
  }
  if (known) {
    constants[code_.instructions[pc].operands[0]] = value;
  }
}

void CodeFlow::find_constants() {
  const std::size_t count = graph_.blocks.size();
  std::vector<Constants> in(count);
  std::vector<bool> reached(count);
  std::vector<std::uint32_t> next{0};
  if (count != 0) {
    reached[0] = true;
  }
  while (!next.empty() && count != 0) {
    const std::uint32_t b = next.back();
    next.pop_back();
    Constants out = in[b];
    for (std::uint32_t pc = graph_.blocks[b].begin; pc < graph_.blocks[b].end;
         ++pc) {
      step(out, pc);
    }
    for (const std::uint32_t successor : graph_.blocks[b].successors) {
      if (!reached[successor]) {
        reached[successor] = true;
        in[successor] = out;
        next.push_back(successor);
        continue;
      }
      // What both ways agree on.
      Constants& known = in[successor];
      const std::size_t before = known.size();
      for (auto at = known.begin(); at != known.end();) {
        const auto mine = out.find(at->first);
        at = mine != out.end() && mine->second == at->second ? std::next(at)
                                                             : known.erase(at);
      }
      if (known.size() != before) {
        next.push_back(successor);
      }
    }
  }
  constants_.resize(code_.instructions.size());
  for (std::size_t b = 0; b < count; ++b) {
    Constants known = reached[b] ? in[b] : Constants();
    for (std::uint32_t pc = graph_.blocks[b].begin; pc < graph_.blocks[b].end;
         ++pc) {
      for (const Slot slot : accesses_[pc].reads) {
        const auto found = known.find(slot);
        if (found != known.end()) {
          constants_[pc].insert(*found);
        }
      }
      step(known, pc);
    }
  }
}

bool CodeFlow::constant_at(std::uint32_t pc, Slot slot, std::uint64_t* value)
    const {
  const auto found = constants_[pc].find(slot);
  if (found == constants_[pc].end()) {
    return false;
  }
  *value = found->second;
  return true;
}

bool CodeFlow::is_entered(std::uint32_t first, std::uint32_t end) const {
  return std::any_of(
      branches_.begin(), branches_.end(), [&](const auto& branch) {
        const auto& [from, to] = branch;
        return to > first && to < end && (from < first || from >= end);
      });
}

const Control* CodeFlow::control_at(std::uint32_t pc) const {
  return code_.instructions[pc].run == control_instruction
      ? &code_.control_at(pc)
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

int CodeFlow::bits_of(Slot slot) const {
  const int width = width_of(slot);
  return width == 0 ? 1 : 8 * width;
}

} // namespace cudasim::engine
