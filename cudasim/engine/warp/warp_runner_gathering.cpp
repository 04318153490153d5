// How the lanes of a mask come together for an instruction that all of them
// execute: shfl.sync, bar.warp.sync and the like.
#include <cstddef>
#include <vector>

#include "cudasim/engine/warp/collective.h"
#include "cudasim/engine/warp/warp_runner.h"

namespace cudasim::engine {

/// Lanes come to an instruction for which all lanes of a mask have to be there.
WarpRunner::Step WarpRunner::gather(
    std::size_t at,
    const Inst& inst,
    const Control& control,
    Mask active) {
  const Mask members = members_of(*this, control, active);
  Split& split = splits_[at];
  if ((members & live & ~active) != 0) {
    split.state = Split::State::kGathering;
    split.active = active;
    split.members = members;
    release_gathered(false);
    return fault.kind != FaultKind::kNone ? Step::kFault : Step::kTurnOver;
  }
  if (block_.checker != nullptr) {
    block_.checker->warp_synchronized(index);
  }
  if (run_collective(*this, inst, control, active) == Flow::kFault) {
    note_fault(inst, *split.frame->code);
    return Step::kFault;
  }
  split.pc += 1;
  return Step::kGoOn;
}

/// The lanes that gather with a split, and those of them whose whole mask is
/// there: one instruction can serve several groups of lanes.
WarpRunner::Gathered WarpRunner::gathered_with(const Split& leader) {
  Gathered lanes;
  Mask members[kLanes] = {};
  for (const Split& split : splits_.all()) {
    if (!meet(leader, split)) {
      continue;
    }
    enter(*this, *split.frame);
    const Code& code = *split.frame->code;
    const Control& control = code.controls[code.control_of[split.pc]];
    lanes.there |= split.active;
    for (Mask left = split.active; left != 0; left &= left - 1) {
      members[__builtin_ctz(left)] =
          members_of(*this, control, left & (~left + 1));
    }
  }
  for (Mask left = lanes.there; left != 0; left &= left - 1) {
    if ((members[__builtin_ctz(left)] & live & ~lanes.there) == 0) {
      lanes.complete |= left & (~left + 1);
    }
  }
  return lanes;
}

/// Looks for gathering lanes that are complete, and lets them go on.
/// @param partly whether they may do so without others at the same instruction
/// that still wait for lanes of their own masks. Meeting them again is better,
/// but those may come only after this.
/// @returns whether there were any; a fault is in `fault`.
bool WarpRunner::release_gathered(bool partly) {
  for (std::size_t i = 0; i < splits_.size(); ++i) {
    if (splits_[i].state != Split::State::kGathering) {
      continue;
    }
    const Gathered lanes = gathered_with(splits_[i]);
    if (lanes.complete == lanes.there || (partly && lanes.complete != 0)) {
      release_lanes(i, lanes.complete);
      return true;
    }
  }
  return false;
}

bool WarpRunner::stop_gathering() {
  for (std::size_t i = 0; i < splits_.size(); ++i) {
    if (splits_[i].state == Split::State::kGathering) {
      release_lanes(i, kAllLanes);
      return true;
    }
  }
  return false;
}

/// Executes the instruction at which splits gathered, for some of their lanes
/// at once, and lets these go on.
void WarpRunner::release_lanes(std::size_t first, Mask released) {
  const Split leader = splits_[first];
  const Code& code = *leader.frame->code;
  const Inst& inst = code.instructions[leader.pc];
  const Control& control = code.controls[code.control_of[leader.pc]];
  Mask all = 0;
  bool one_place = true;
  std::vector<Split> together;
  std::vector<Split> waiting;
  for (Split& split : splits_.all()) {
    if (!meet(leader, split) || (split.active & released) == 0) {
      continue;
    }
    const Mask rest = split.active & ~released;
    if (rest != 0) {
      enter(*this, *split.frame);
      const Code& own = *split.frame->code;
      waiting.push_back(split);
      waiting.back().mask = waiting.back().active = rest;
      waiting.back().members =
          members_of(*this, own.controls[own.control_of[split.pc]], rest);
      split.mask &= ~rest;
      split.active &= ~rest;
    }
    all |= split.active;
    one_place &= split.pc == leader.pc && split.frame == leader.frame;
    together.push_back(split);
    split.state = Split::State::kReady;
    split.pc += 1;
  }
  splits_.all().insert(splits_.all().end(), waiting.begin(), waiting.end());
  if (block_.checker != nullptr) {
    block_.checker->warp_synchronized(index);
  }
  enter(*this, *leader.frame);
  const Flow flow = one_place || control.handler == nullptr
      ? run_collective(*this, inst, control, all)
      : run_collective(*this, together, all);
  if (flow == Flow::kFault) {
    note_fault(inst, code);
  }
}

} // namespace cudasim::engine
