#include "cudasim/engine/warp/gathering.h"

#include <vector>

#include "cudasim/engine/warp/collective.h"

namespace cudasim::engine {

Gathering::Outcome Gathering::gather(
    std::size_t at,
    const Inst& inst,
    const Control& control,
    Mask active) {
  const Mask members = members_of(warp_, control, active);
  Split& split = splits_[at];
  if ((members & warp_.live & ~active) != 0) {
    split.state = Split::State::kGathering;
    split.active = active;
    split.members = members;
    release(false);
    return warp_.fault.kind != FaultKind::kNone ? Outcome::kFault
                                                : Outcome::kWaits;
  }
  if (block_.observer != nullptr) {
    split.active = active;
    note_meeting({split});
  }
  if (run_collective(warp_, inst, control, active) == Flow::kFault) {
    fault_.note(inst, *split.frame->code);
    return Outcome::kFault;
  }
  split.pc += 1;
  return Outcome::kExecuted;
}

/// The lanes that gather with a split, and those of them whose whole mask is
/// there: one instruction can serve several groups of lanes.
Gathering::Lanes Gathering::gathered_with(const Split& leader) {
  Lanes lanes;
  Mask members[kLanes] = {};
  for (const Split& split : splits_.all()) {
    if (!meet(leader, split)) {
      continue;
    }
    enter(warp_, *split.frame);
    const Control& control = split.frame->code->control_at(split.pc);
    lanes.there |= split.active;
    for (Mask left = split.active; left != 0; left &= left - 1) {
      members[__builtin_ctz(left)] =
          members_of(warp_, control, left & (~left + 1));
    }
  }
  for (Mask left = lanes.there; left != 0; left &= left - 1) {
    if ((members[__builtin_ctz(left)] & warp_.live & ~lanes.there) == 0) {
      lanes.complete |= left & (~left + 1);
    }
  }
  return lanes;
}

/// Tells the observer of the lanes that meet. There may be several groups at
/// once: tiles of a warp, each with its own mask.
/// @param splits that are at the instruction; their `active` lanes meet.
void Gathering::note_meeting(const std::vector<Split>& splits) {
  Mask all = 0;
  Mask masks[kLanes] = {};
  for (const Split& split : splits) {
    enter(warp_, *split.frame);
    const Control& control = split.frame->code->control_at(split.pc);
    all |= split.active;
    for (Mask left = split.active; left != 0; left &= left - 1) {
      masks[__builtin_ctz(left)] =
          members_of(warp_, control, left & (~left + 1));
    }
  }
  for (Mask left = all; left != 0;) {
    Mask group = 0;
    for (Mask others = left; others != 0; others &= others - 1) {
      const int lane = __builtin_ctz(others);
      group |= masks[lane] == masks[__builtin_ctz(left)] ? 1u << lane : 0u;
    }
    for (const Split& split : splits) {
      if ((split.active & group) != 0) {
        const Code* code = split.frame->code;
        block_.observer->warp_meets(
            {&warp_, code, &code->instructions[split.pc]},
            split.active & group,
            group);
      }
    }
    left &= ~group;
  }
}

bool Gathering::release(bool partly) {
  for (std::size_t i = 0; i < splits_.size(); ++i) {
    if (splits_[i].state != Split::State::kGathering) {
      continue;
    }
    const Lanes lanes = gathered_with(splits_[i]);
    if (lanes.complete == lanes.there || (partly && lanes.complete != 0)) {
      release_lanes(i, lanes.complete);
      return true;
    }
  }
  return false;
}

bool Gathering::stop() {
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
void Gathering::release_lanes(std::size_t first, Mask released) {
  const Split leader = splits_[first];
  const Code& code = *leader.frame->code;
  const Inst& inst = code.instructions[leader.pc];
  const Control& control = code.control_at(leader.pc);
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
      enter(warp_, *split.frame);
      const Control& own = split.frame->code->control_at(split.pc);
      waiting.push_back(split);
      waiting.back().mask = waiting.back().active = rest;
      waiting.back().members = members_of(warp_, own, rest);
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
  if (block_.observer != nullptr) {
    note_meeting(together);
  }
  enter(warp_, *leader.frame);
  const Flow flow = one_place || control.handler == nullptr
      ? run_collective(warp_, inst, control, all)
      : run_collective(warp_, together, all);
  if (flow == Flow::kFault) {
    fault_.note(inst, code);
  }
}

} // namespace cudasim::engine
