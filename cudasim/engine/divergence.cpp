// How lanes of a warp part and meet again: joins, and instructions for which
// all lanes of a mask have to be there.
#include <cstring>

#include "cudasim/engine/scheduler.h"

namespace cudasim::engine {

/// The lanes that have arrived go on together. The join is over when no more
/// are expected.
void WarpRunner::go_on(Join* join) {
  Split split;
  split.mask = join->arrived;
  split.join = join->parent;
  last_release_ = instructions;
  join->expected &= ~join->arrived;
  join->arrived = 0;
  if (join->pc == kNowhere) {
    Frame* frame = join->frame;
    const Control& control = *frame->call;
    const Frame& parent = *frame->parent;
    const auto& results = frame->code->results;
    for (std::size_t i = 0; i < control.results.size() && i < results.size();
         ++i) {
      for (int lane = 0; lane < kLanes; ++lane) {
        if ((split.mask >> lane & 1) != 0) {
          std::byte* base =
              local_base + static_cast<std::uint64_t>(lane) * local_size;
          std::memcpy(
              base + parent.local_frame + control.results[i].to,
              base + frame->local_frame + results[i].from,
              results[i].size);
        }
      }
    }
    split.pc = frame->return_pc;
    split.frame = frame->parent;
    if (join->expected == 0) {
      free_frame(frame);
    }
  } else {
    split.pc = join->pc;
    split.frame = join->frame;
  }
  if (join->expected == 0) {
    free_join(join);
  }
  splits_.push_back(split);
}

/// Lanes that wait for the split with this join go on by themselves.
/// @returns whether there were any.
bool WarpRunner::release_waiting(Join* join) {
  for (; join != nullptr; join = join->parent) {
    if (join->arrived != 0) {
      go_on(join);
      return true;
    }
  }
  return false;
}

bool WarpRunner::release_any_waiting() {
  for (std::size_t i = 0; i < splits_.size(); ++i) {
    if (release_waiting(splits_[i].join)) {
      return true;
    }
  }
  return false;
}

/// @returns whether the join was completed.
bool WarpRunner::arrive(Join* join, Mask mask) {
  join->arrived |= mask;
  if (join->arrived != join->expected) {
    return false;
  }
  go_on(join);
  return true;
}

void WarpRunner::leave(Join* join, const Join* last, Mask mask) {
  while (join != last) {
    Join* parent = join->parent;
    join->expected &= ~mask;
    if (join->expected == 0) {
      if (join->pc == kNowhere) {
        free_frame(join->frame);
      }
      free_join(join);
    } else if (join->arrived == join->expected) {
      go_on(join);
    }
    join = parent;
  }
}

void WarpRunner::remove(std::size_t split) {
  splits_[split] = splits_.back();
  splits_.pop_back();
}

/// Lanes of a split take a branch and the others do not. Where their ways meet
/// again is a join, unless it is the one that they are on their way to already.
void WarpRunner::part(std::size_t at, const Control& control, Mask taken) {
  Split& split = splits_[at];
  const std::uint32_t next = split.pc + 1;
  const Mask rest = split.mask & ~taken;
  Join* join = split.join;
  if (control.join != kNowhere &&
      (join == nullptr || join->frame != split.frame ||
       join->pc != control.join)) {
    join = new_join();
    join->parent = split.join;
    join->frame = split.frame;
    join->pc = control.join;
    join->expected = split.mask;
    split.join = join;
  }
  if (control.target == control.join) {
    join->arrived |= taken;
    split.mask = rest;
    split.pc = next;
    return;
  }
  split.mask = taken;
  split.pc = control.target;
  if (next == control.join) {
    join->arrived |= rest;
    return;
  }
  Split other = split;
  other.mask = rest;
  other.pc = next;
  splits_.push_back(other);
}

namespace {

/// Runs the handler of an instruction, for the lanes of each member mask by
/// themselves: one instruction can serve several groups of lanes.
Flow run_for_groups(
    Warp& warp,
    const Inst& inst,
    const Control& control,
    Mask active) {
  if (control.handler == nullptr) {
    return Flow::kNext;
  }
  if (control.members == kNoSlot || (control.members & kConstantBit) != 0) {
    return control.handler(warp, inst, active);
  }
  // The handler may overwrite the register with the masks.
  Mask members[kLanes];
  std::memcpy(members, lanes<Mask>(warp, control.members), sizeof(members));
  for (Mask left = active; left != 0;) {
    const Mask wanted = members[__builtin_ctz(left)];
    Mask group = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
      group |= (members[lane] == wanted ? 1u : 0u) << lane;
    }
    group &= left;
    const Flow flow = control.handler(warp, inst, group);
    if (flow != Flow::kNext) {
      return flow;
    }
    left &= ~group;
  }
  return Flow::kNext;
}

/// Copies the active lanes of a register; `width` 0: a predicate.
void copy_lanes(
    std::byte* to,
    const std::byte* from,
    std::uint8_t width,
    Mask active,
    bool negated) {
  if (width == 0) {
    Mask old = 0;
    Mask bits = 0;
    std::memcpy(&old, to, sizeof(old));
    std::memcpy(&bits, from, sizeof(bits));
    old = (old & ~active) | ((negated ? ~bits : bits) & active);
    std::memcpy(to, &old, sizeof(old));
    return;
  }
  for (Mask left = active; left != 0; left &= left - 1) {
    const int at = __builtin_ctz(left) * width;
    std::memcpy(to + at, from + at, width);
  }
}

/// All lanes that the active ones wait for.
Mask members_of(Warp& warp, const Control& control, Mask active) {
  if (control.members == kNoSlot) {
    return kAllLanes;
  }
  const Mask* masks = lanes<Mask>(warp, control.members);
  if ((control.members & kConstantBit) != 0) {
    return masks[0];
  }
  Mask members = 0;
  for (Mask left = active; left != 0; left &= left - 1) {
    members |= masks[__builtin_ctz(left)];
  }
  return members;
}

} // namespace

/// Lanes come to an instruction for which all lanes of a mask have to be there.
/// @returns whether the split goes on at once; `flow` tells how its handler
/// did.
bool WarpRunner::gather(
    std::size_t at,
    const Inst& inst,
    const Control& control,
    Mask active,
    Flow* flow) {
  const Mask members = members_of(*this, control, active);
  *flow = Flow::kNext;
  if ((members & live & ~active) == 0) {
    if (runner_.checker() != nullptr) {
      runner_.checker()->warp_synchronized(index);
    }
    *flow = run_for_groups(*this, inst, control, active);
    return true;
  }
  Split& split = splits_[at];
  split.state = Split::State::kGathering;
  split.active = active;
  split.members = members;
  return false;
}

/// Executes the instruction at which a group of splits gathered, for all of
/// them at once, and lets them go on.
Flow WarpRunner::release_group(std::size_t first) {
  const Split leader = splits_[first];
  const Code& code = *leader.frame->code;
  const Inst& inst = code.instructions[leader.pc];
  const Control& control = code.controls[code.control_of[leader.pc]];
  Mask all = 0;
  bool one_place = true;
  std::vector<Split> together;
  for (Split& split : splits_) {
    if (meets(leader, split)) {
      all |= split.active;
      one_place &= split.pc == leader.pc && split.frame == leader.frame;
      together.push_back(split);
      split.state = Split::State::kReady;
      split.pc += 1;
    }
  }
  if (runner_.checker() != nullptr) {
    runner_.checker()->warp_synchronized(index);
  }
  enter(*leader.frame);
  const Flow flow = one_place || control.handler == nullptr
      ? run_for_groups(*this, inst, control, all)
      : run_across(together, all);
  return flow == Flow::kFault ? note_fault(inst, code) : flow;
}

/// Whether a split gathers with another one. Lanes of one mask can come to
/// different places of a program, if it is the same instruction that is there
/// (CUDA programming guide, "Warp shuffle functions" and the like).
bool WarpRunner::meets(const Split& leader, const Split& split) const {
  if (split.state != Split::State::kGathering) {
    return false;
  }
  if (split.pc == leader.pc && split.frame == leader.frame) {
    return true;
  }
  const Code& code = *leader.frame->code;
  const Code& other_code = *split.frame->code;
  const Control& control = code.controls[code.control_of[leader.pc]];
  const Control& other = other_code.controls[other_code.control_of[split.pc]];
  if (control.kind != other.kind) {
    return false;
  }
  return control.kind == ControlKind::kWarpBarrier
      ? (split.members & leader.members) != 0
      : control.handler == other.handler && control.members != kNoSlot &&
          split.members == leader.members;
}

/// Executes a collective for splits at different places: their operands are
/// brought together in registers of its own.
Flow WarpRunner::run_across(const std::vector<Split>& splits, Mask all) {
  constexpr std::size_t kRegister = kLanes * 8;
  alignas(64) std::byte registers[kOperands * kRegister] = {};
  const auto inst_of = [](const Split& split) -> const Inst& {
    return split.frame->code->instructions[split.pc];
  };
  const auto place_of = [&](const Split& split, int operand) {
    enter(*split.frame);
    return lanes<std::byte>(*this, inst_of(split).operands[operand]);
  };
  Inst inst = inst_of(splits.front());
  inst.negated = 0;
  const Code& code = *splits.front().frame->code;
  Control control = code.controls[code.control_of[splits.front().pc]];
  for (int k = kOperands - 1; k >= inst.destinations; --k) {
    if (inst.operands[k] == control.members) {
      control.members = static_cast<Slot>(k * kRegister);
      break;
    }
  }
  const auto for_each_operand = [&](const auto& visit) {
    for (const Split& split : splits) {
      const Inst& own = inst_of(split);
      for (int k = 0; k < kOperands; ++k) {
        if (own.operands[k] != kNoSlot) {
          visit(split, own, k, registers + k * kRegister, place_of(split, k));
        }
      }
    }
  };
  for_each_operand([&](const Split& split,
                       const Inst& own,
                       int k,
                       std::byte* here,
                       const std::byte* there) {
    inst.operands[k] = static_cast<Slot>(k * kRegister);
    copy_lanes(
        here, there, own.widths[k], split.active, (own.negated >> k & 1) != 0);
  });
  bases[0] = registers;
  const Flow flow = run_for_groups(*this, inst, control, all);
  for_each_operand([&](const Split& split,
                       const Inst& own,
                       int k,
                       const std::byte* here,
                       std::byte* there) {
    if (k < own.destinations) {
      copy_lanes(there, here, own.widths[k], split.active, false);
    }
  });
  return flow;
}

/// Looks for a group of gathering splits that is complete.
/// @returns whether one was released; a fault is in `fault`.
bool WarpRunner::release_gathered() {
  for (std::size_t i = 0; i < splits_.size(); ++i) {
    const Split& leader = splits_[i];
    if (leader.state != Split::State::kGathering) {
      continue;
    }
    Mask there = 0;
    for (const Split& split : splits_) {
      there |= meets(leader, split) ? split.active : 0;
    }
    if ((leader.members & live & ~there) == 0) {
      release_group(i);
      return true;
    }
  }
  return false;
}

void WarpRunner::release(
    std::uint32_t barrier,
    bool reduced,
    std::uint32_t result) {
  for (Split& split : splits_) {
    if (split.state != Split::State::kAtBarrier || split.barrier != barrier) {
      continue;
    }
    if (reduced) {
      const Code& code = *split.frame->code;
      const Control& control = code.controls[code.control_of[split.pc]];
      std::byte* place = split.frame->registers + control.reduced;
      if (control.reduction == BarrierReduction::kPopulation) {
        for (int lane = 0; lane < kLanes; ++lane) {
          if ((split.active >> lane & 1) != 0) {
            std::memcpy(place + 4 * lane, &result, 4);
          }
        }
      } else {
        auto& bits = *reinterpret_cast<Mask*>(place);
        bits = (bits & ~split.active) | (result != 0 ? split.active : 0);
      }
    }
    split.state = Split::State::kReady;
    split.pc += 1;
  }
}

} // namespace cudasim::engine
