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

/// Lanes come to an instruction for which all lanes of a mask have to be there.
/// @returns whether the split goes on at once; `flow` tells how its handler
/// did.
bool WarpRunner::gather(
    std::size_t at,
    const Inst& inst,
    const Control& control,
    Mask active,
    Flow* flow) {
  const Mask members = control.members == kNoSlot
      ? kAllLanes
      : lanes<Mask>(*this, control.members)[__builtin_ctz(active)];
  *flow = Flow::kNext;
  if ((members & live & ~active) == 0) {
    if (runner_.checker() != nullptr) {
      runner_.checker()->warp_synchronized(index);
    }
    if (control.handler != nullptr) {
      *flow = control.handler(*this, inst, active);
    }
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
  for (Split& split : splits_) {
    const bool same = split.state == Split::State::kGathering &&
        (control.kind == ControlKind::kWarpBarrier
             ? (split.members & leader.members) != 0
             : split.pc == leader.pc && split.frame == leader.frame);
    if (same) {
      all |= split.active;
      split.state = Split::State::kReady;
      split.pc += 1;
    }
  }
  if (runner_.checker() != nullptr) {
    runner_.checker()->warp_synchronized(index);
  }
  enter(*leader.frame);
  const Flow flow = control.handler != nullptr
      ? control.handler(*this, inst, all)
      : Flow::kNext;
  return flow == Flow::kFault ? note_fault(inst, code) : flow;
}

/// Looks for a group of gathering splits that is complete.
/// @returns whether one was released; a fault is in `fault`.
bool WarpRunner::release_gathered() {
  for (std::size_t i = 0; i < splits_.size(); ++i) {
    const Split& leader = splits_[i];
    if (leader.state != Split::State::kGathering) {
      continue;
    }
    const Code& code = *leader.frame->code;
    const bool barrier = code.controls[code.control_of[leader.pc]].kind ==
        ControlKind::kWarpBarrier;
    Mask there = 0;
    for (const Split& split : splits_) {
      if (split.state == Split::State::kGathering &&
          (barrier || (split.pc == leader.pc && split.frame == leader.frame))) {
        there |= split.active;
      }
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
