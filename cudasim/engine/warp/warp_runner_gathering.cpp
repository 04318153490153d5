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
    release_gathered();
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

/// Looks for a group of gathering splits that is complete.
/// @returns whether one was released; a fault is in `fault`.
bool WarpRunner::release_gathered() {
  for (std::size_t i = 0; i < splits_.size(); ++i) {
    const Split& leader = splits_[i];
    if (leader.state != Split::State::kGathering) {
      continue;
    }
    Mask there = 0;
    for (const Split& split : splits_.all()) {
      there |= meet(leader, split) ? split.active : 0;
    }
    if ((leader.members & live & ~there) == 0) {
      release_group(i);
      return true;
    }
  }
  return false;
}

bool WarpRunner::stop_gathering() {
  for (std::size_t i = 0; i < splits_.size(); ++i) {
    if (splits_[i].state == Split::State::kGathering) {
      release_group(i);
      return true;
    }
  }
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
  for (Split& split : splits_.all()) {
    if (meet(leader, split)) {
      all |= split.active;
      one_place &= split.pc == leader.pc && split.frame == leader.frame;
      together.push_back(split);
      split.state = Split::State::kReady;
      split.pc += 1;
    }
  }
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
  return flow;
}

} // namespace cudasim::engine
