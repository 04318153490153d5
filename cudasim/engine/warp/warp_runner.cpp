#include "cudasim/engine/warp/warp_runner.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "cudasim/engine/code/alignment.h"
#include "cudasim/engine/code/watched_registers.h"
#include "cudasim/engine/warp/builtins.h"
#include "cudasim/engine/warp/calls.h"
#include "cudasim/engine/warp/cursor.h"

namespace cudasim::engine {
namespace {

Mask guarded(Warp& warp, const Inst& inst, Mask mask) {
  if (inst.guard == kNoSlot) {
    return mask;
  }
  const Mask set = predicate(warp, inst.guard);
  return mask & (inst.guard_negated ? ~set : set);
}

bool any_in(const Splits& splits, Split::State state) {
  return std::any_of(
      splits.all().begin(), splits.all().end(), [state](const Split& split) {
        return split.state == state;
      });
}

} // namespace

WarpRunner::WarpRunner(EnclosingBlock& enclosing)
    : block_(enclosing),
      splits_(*this, frames_, instructions),
      gathering_(*this, enclosing, splits_, faulting_) {
  block = &enclosing;
  ranges = &enclosing.ranges;
  local_size = enclosing.local_bytes;
  if (local_size != 0) {
    local_base = allocate_aligned(local_memory_, local_size * kLanes);
  }
}

void WarpRunner::start(
    std::uint32_t warp_index,
    Mask lanes_of_block,
    bool alone) {
  index = warp_index;
  alone_ = alone || block_.kernel->entry->first_stores.empty();
  loads_only_ = !alone_;
  live = lanes_of_block;
  fault = Fault{};
  std::fill_n(stack_top, kLanes, local_size);
  paused_.reset();
  ran_ = nullptr;
  frames_.clear();
  Frame* const frame = new_frame(*block_.kernel->entry, nullptr, 0);
  entry_ = frame;
  splits_.start(frame, lanes_of_block);
}

WarpRunner::Status WarpRunner::run(std::uint64_t budget) {
  const std::uint64_t limit = instructions + budget;
  while (!splits_.empty()) {
    block_.forget_stale_ranges();
    const std::size_t at = splits_.next();
    if (at == splits_.size()) {
      const Status status = run_waiting();
      if (status != Status::kBudget) {
        return status;
      }
      continue;
    }
    switch (run_split(at, limit)) {
      case Turn::kFault:
        return Status::kFault;
      case Turn::kBudget:
        return Status::kBudget;
      case Turn::kStoresNext:
        return Status::kStoresNext;
      case Turn::kMet:
        break; // native code goes on, too, up to the next branch back
      case Turn::kOver:
        if (instructions >= limit && !splits_.empty()) {
          return Status::kBudget;
        }
    }
  }
  return Status::kFinished;
}

WarpRunner::Status WarpRunner::look_for_spinning(bool* spins) {
  const std::size_t at = splits_.next();
  *spins = yielded_;
  if (*spins || kWatchRegisters || at == splits_.size()) {
    return Status::kBudget;
  }
  // Lanes that wait, at a join or a barrier, stay where they are. Others of the
  // warp that do something are not looked at: it is not spinning then.
  const auto is_ready = [](const Split& split) {
    return split.state == Split::State::kReady;
  };
  const auto count_ready = [&] {
    return std::count_if(splits_.all().begin(), splits_.all().end(), is_ready);
  };
  if (count_ready() != 1) {
    return Status::kBudget;
  }
  const Split before = splits_[at];
  seen_registers_.assign(
      before.frame->registers,
      before.frame->registers + before.frame->code->frame_bytes);
  const Status status = run(1); // up to the next branch back
  if (status != Status::kBudget || count_ready() != 1) {
    return status;
  }
  const Split& after = splits_[splits_.next()];
  *spins = yielded_ ||
      (after.pc == before.pc && after.mask == before.mask &&
       after.frame == before.frame &&
       std::memcmp(
           seen_registers_.data(),
           after.frame->registers,
           seen_registers_.size()) == 0);
  return status;
}

/// Whether native code may begin behind an instruction for control: it ended
/// before it. Collectives are part of it.
bool begins_region(ControlKind kind) {
  return kind == ControlKind::kBarrier || kind == ControlKind::kBarrierArrive ||
      kind == ControlKind::kCall || kind == ControlKind::kReturn;
}

/// Executes a split until its turn is over.
WarpRunner::Turn WarpRunner::run_split(std::size_t at, std::uint64_t limit) {
  BlockObserver* const observer = block_.observer;
  const std::uint64_t slice_end = std::min(limit, slice_end_);
  yielded_ = false;
  enter(*this, *splits_[at].frame);
  Cursor here(splits_[at], loads_only_);
  Turn turn = Turn::kOver;
  if (run_native(at, here, slice_end, &turn)) {
    return turn;
  }
  while (true) {
    if (here.pc == here.stop) {
      if (here.pc != here.join) {
        splits_[at].pc = here.pc;
        loads_only_ = false;
        return Turn::kStoresNext;
      }
      // Wait for the others, or go on as the last to come.
      Join* join = splits_[at].join;
      splits_.remove(at);
      splits_.arrive(join, here.mask);
      splits_.newest_first();
      return Turn::kMet;
    }
    const Inst& inst = here.program[here.pc];
    const Mask active = guarded(*this, inst, here.mask);
    ++instructions;
    if (active == 0) {
      ++here.pc;
      continue;
    }
    thread_instructions +=
        active == kAllLanes ? kLanes : std::uint64_t{lane_count(active)};
    if (observer != nullptr) {
      observer->before({this, here.code, &inst}, active);
    }
    const Flow flow = inst.run(*this, inst, active);
    if (flow == Flow::kNext) {
      ++here.pc;
      continue;
    }
    splits_[at].pc = here.pc;
    if (flow == Flow::kFault) {
      faulting_.note(inst, *here.code);
      return Turn::kFault;
    }
    if (flow == Flow::kYield) {
      splits_[at].pc = here.pc + 1;
      yielded_ = true;
      if (!give_way(at, kPatienceWithYields)) {
        return Turn::kFault;
      }
      return splits_.size() == 1 ? Turn::kBudget : Turn::kOver;
    }
    const Control& control = here.code->control_at(here.pc);
    if (control.kind == ControlKind::kBranch) {
      if (active == here.mask) {
        here.pc = control.target;
        if (loads_only_) {
          here.stop_at_store();
        }
      } else {
        at = splits_.part(at, control, active);
        here = Cursor(splits_[at], loads_only_);
      }
      if (here.pc <= inst.index && instructions >= slice_end) {
        splits_[at].pc = here.pc;
        if (instructions < slice_end_) {
          return Turn::kBudget; // the warp's turn is over, and not the split's
        }
        return give_way(at, kPatience) ? Turn::kOver : Turn::kFault;
      }
      if (here.code->regions != nullptr &&
          run_native(at, here, slice_end, &turn)) {
        return turn;
      }
      continue;
    }
    switch (execute(at, inst, control, active, limit)) {
      case Step::kGoOn:
        here = Cursor(splits_[at], loads_only_);
        if (here.code->regions != nullptr && begins_region(control.kind) &&
            run_native(at, here, slice_end, &turn)) {
          return turn;
        }
        break;
      case Step::kTurnOver:
        return Turn::kOver;
      case Step::kBudget:
        return Turn::kBudget;
      case Step::kFault:
        return Turn::kFault;
    }
  }
}

/// The turn of a split is over: others of this warp come next. It may be
/// spinning until some of those that gather get on.
/// @returns false on a fault, which is in `fault`.
bool WarpRunner::give_way(std::size_t at, std::uint64_t patience) {
  Regions* const regions = block_.kernel->entry->regions.get();
  if (regions != nullptr && (splits_.size() != 1 || splits_[at].join)) {
    regions->note_lanes_in_turns();
  }
  late_releases += splits_.release_late(splits_[at].join, patience) ? 1 : 0;
  splits_.end_turn(at);
  begin_slice();
  if (any_in(splits_, Split::State::kGathering)) {
    gathering_.release(true);
  }
  return fault.kind == FaultKind::kNone;
}

/// All splits wait: lets some of them go on, if that is what they wait for.
/// @returns kBudget when one goes on.
WarpRunner::Status WarpRunner::run_waiting() {
  if (splits_.size() == 1 && splits_[0].join == nullptr &&
      splits_[0].state == Split::State::kAtBarrier) {
    return Status::kBlocked; // as nearly all warps that wait
  }
  if (gathering_.release(true)) {
    return fault.kind != FaultKind::kNone ? Status::kFault : Status::kBudget;
  }
  // Lanes of a mask may wait at a join for those that wait for them: they come
  // to the same instruction at another place of the program.
  Mask wanted = 0;
  for (const Split& split : splits_.all()) {
    wanted |= split.state == Split::State::kGathering ? split.members : 0;
  }
  if (splits_.release_any_waiting(wanted)) {
    return Status::kBudget;
  }
  if (!any_in(splits_, Split::State::kAtBarrier)) {
    // Lanes of a mask that will never come: CUDA leaves undefined what happens,
    // so whoever is there goes on.
    gathering_.stop();
    return fault.kind != FaultKind::kNone ? Status::kFault : Status::kBudget;
  }
  // Lanes that wait at a join for those at a barrier may be what the barrier
  // waits for, or may be about to exit.
  return splits_.release_any_waiting() ? Status::kBudget : Status::kBlocked;
}

/// Executes an instruction for control that is not a plain branch.
WarpRunner::Step WarpRunner::execute(
    std::size_t at,
    const Inst& inst,
    const Control& control,
    Mask active,
    std::uint64_t limit) {
  switch (control.kind) {
    case ControlKind::kIndexedBranch:
      return indexed_branch(at, inst, control, active);
    case ControlKind::kCall: {
      const Step step = call(at, inst, control, active);
      return step == Step::kGoOn && instructions >= limit ? Step::kBudget
                                                          : step;
    }
    case ControlKind::kReturn:
    case ControlKind::kExit:
      return end_lanes(at, control.kind, active);
    case ControlKind::kBarrier:
    case ControlKind::kBarrierArrive:
      return barrier(at, control, active);
    case ControlKind::kWarpBarrier:
    case ControlKind::kCollective:
      switch (gathering_.gather(at, inst, control, active)) {
        case Gathering::Outcome::kExecuted:
          return Step::kGoOn;
        case Gathering::Outcome::kWaits:
          return Step::kTurnOver;
        case Gathering::Outcome::kFault:
          return Step::kFault;
      }
      break;
    case ControlKind::kTrap:
    case ControlKind::kBranch: // not here
      break;
  }
  access_fault(
      *this, inst, FaultKind::kTrap, __builtin_ctz(active), 0, 0, false);
  faulting_.note(inst, *splits_[at].frame->code);
  return Step::kFault;
}

WarpRunner::Step WarpRunner::indexed_branch(
    std::size_t at,
    const Inst& inst,
    const Control& control,
    Mask active) {
  const auto* indices = lanes<std::uint32_t>(*this, inst.operands[0]);
  std::uint32_t targets[kLanes] = {};
  for (Mask left = active; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    if (indices[lane] >= control.targets.size()) {
      access_fault(
          *this, inst, FaultKind::kIllegalInstruction, lane, 0, 0, false);
      faulting_.note(inst, *splits_[at].frame->code);
      return Step::kFault;
    }
    targets[lane] = control.targets[indices[lane]];
  }
  splits_.part(at, control, targets, active);
  splits_.newest_first();
  return Step::kTurnOver;
}

/// The function that a call is for; null where there is none. Lanes may call
/// different ones: `active` becomes those for which it is this one.
const Code* WarpRunner::callee_of(
    std::size_t at,
    const Inst& inst,
    const Control& control,
    Mask* active) {
  if (control.callee != nullptr) {
    return control.callee;
  }
  const auto* targets = lanes<std::uint64_t>(*this, inst.operands[0]);
  const std::uint64_t target = targets[__builtin_ctz(*active)];
  const auto& functions = block_.kernel->functions;
  const auto found = functions.find(target);
  if (found == functions.end() || !fits(control, *found->second)) {
    access_fault(
        *this,
        inst,
        found == functions.end() ? FaultKind::kIllegalAddress
                                 : FaultKind::kIllegalInstruction,
        __builtin_ctz(*active),
        target,
        8,
        false);
    faulting_.note(inst, *splits_[at].frame->code);
    return nullptr;
  }
  Mask same = 0;
  for (Mask left = *active; left != 0; left &= left - 1) {
    same |= targets[__builtin_ctz(left)] == target ? left & (~left + 1) : 0;
  }
  *active = same;
  return found->second;
}

/// A builtin leaves everything as it is; a call changes the frame.
WarpRunner::Step WarpRunner::call(
    std::size_t at,
    const Inst& inst,
    const Control& control,
    Mask active) {
  if (control.builtin != Builtin::kNone) {
    const bool well = call_builtin(*this, block_, inst, control, active);
    splits_[at].pc += 1;
    if (!well) {
      faulting_.note(inst, *splits_[at].frame->code);
    }
    return well ? Step::kGoOn : Step::kFault;
  }
  const Mask idle = splits_[at].mask & ~active;
  const Code* callee = callee_of(at, inst, control, &active);
  if (callee == nullptr) {
    return Step::kFault;
  }
  if (active != splits_[at].mask) {
    // Lanes whose guard is off are past the call already; those that call
    // another function stay at it and make it when it is their turn.
    splits_.set_apart(at, active, idle);
  }
  Frame& caller = *splits_[at].frame;
  const std::uint64_t begin = aligned(
      caller.local_frame + caller.code->local_bytes, frame_alignment(*callee));
  if (begin + callee->local_bytes > lowest_stack_top(*this, active)) {
    fault.kind = FaultKind::kStackOverflow;
    fault.lane = static_cast<std::uint8_t>(__builtin_ctz(active));
    fault.line = inst.line;
    faulting_.note(inst, *caller.code);
    return Step::kFault;
  }
  Frame* frame = new_frame(*callee, &caller, begin);
  pass_arguments(*this, control, *frame, active);
  splits_.call(at, frame);
  enter(*this, *frame);
  return Step::kGoOn;
}

/// Lanes return from a function, or exit.
WarpRunner::Step WarpRunner::end_lanes(
    std::size_t at,
    ControlKind kind,
    Mask active) {
  Split& split = splits_[at];
  Join* const join = split.join;
  const bool all = split.mask == active;
  if (all) {
    splits_.remove(at);
  } else {
    split.mask &= ~active;
    split.pc += 1;
  }
  if (kind == ControlKind::kExit) {
    live &= ~active;
    splits_.leave(join, nullptr, active);
    block_.threads_exited(lane_count(active));
  } else {
    Join* last = join;
    while (last->pc != kNowhere) {
      last = last->parent;
    }
    splits_.leave(join, last, active);
    splits_.arrive(last, active);
  }
  if (!all) {
    return Step::kGoOn;
  }
  splits_.newest_first();
  return Step::kTurnOver;
}

WarpRunner::Step WarpRunner::barrier(
    std::size_t at,
    const Control& control,
    Mask active) {
  const int first = __builtin_ctz(active);
  const auto value = [&](Slot slot) {
    return slot == kNoSlot ? 0u : lanes<std::uint32_t>(*this, slot)[first];
  };
  const std::uint32_t number = value(control.barrier) % kBarriers;
  const std::uint32_t expected = value(control.thread_count);
  Mask contribution = 0;
  if (control.contribution != kNoSlot) {
    contribution = predicate(*this, control.contribution);
    contribution = control.contribution_negated ? ~contribution : contribution;
  }
  const auto threads = expected != 0 && active == live
      ? static_cast<std::uint32_t>(kLanes)
      : lane_count(active);
  if (control.kind == ControlKind::kBarrier) {
    loads_only_ = !alone_;
    splits_[at].state = Split::State::kAtBarrier;
    splits_[at].barrier = number;
    splits_[at].active = active;
  } else {
    splits_[at].pc += 1;
  }
  block_.arrive(
      number, threads, expected, control, contribution & active, active);
  return splits_[at].state == Split::State::kReady ? Step::kGoOn
                                                   : Step::kTurnOver;
}

Frame* WarpRunner::new_frame(
    const Code& code,
    Frame* parent,
    std::uint64_t local_frame_begin) {
  Frame* frame = frames_.take(code, parent, local_frame_begin);
  fill_specials(
      code,
      block_.place(index),
      local_frame_begin,
      frame->specials_of == &code,
      frame->registers);
  frame->specials_of = &code;
  return frame;
}

} // namespace cudasim::engine
