#include "cudasim/engine/launch/native_turns.h"

#include <algorithm>
#include <utility>

#include "cudasim/engine/translation/helpers.h"
#include "cudasim/engine/translation/regions.h"
#include "cudasim/engine/warp/place.h"

namespace cudasim::engine {

NativeTurns::NativeTurns(
    EnclosingBlock& block,
    const Warps& warps,
    const std::uint32_t& awaited)
    : block_(block), warps_(warps), awaited_(awaited) {}

bool NativeTurns::can_begin(bool all_full) const {
  const Code& code = *block_.kernel->entry;
  if (!all_full || code.regions == nullptr || block_.observer != nullptr) {
    return false;
  }
  const NativeRegion* const first = code.regions->at(0);
  return first != nullptr && first->stop == kNowhere;
}

std::optional<NativeTurns::Rest> NativeTurns::run(
    std::uint64_t slice,
    std::uint64_t most,
    std::uint64_t budget) {
  code_ = block_.kernel->entry;
  first_ = region_at(0); // stays, also where it is given up meanwhile
  specials_of_block(*code_, block_.place(0), &specials_);
  ran_.state.set_block(block_, block_.ranges);
  turns_.resize(warps_.size());
  for (Turn& turn : turns_) {
    turn.state = State::kBegins;
    turn.loads_only = !is_alone();
  }
  live_ = warps_.size();
  waiting_ = 0;
  exited_ = 0;
  std::uint64_t spent = 0;
  while (live_ != 0) {
    if (spent >= budget || first_ == nullptr) {
      leave_all();
      return Rest{0, slice, slice, std::nullopt, spent >= budget, spent};
    }
    const std::uint64_t spent_before = spent;
    for (std::size_t i = 0; i < warps_.size(); ++i) {
      if (turns_[i].state > State::kGoesOn) {
        continue;
      }
      const std::uint64_t before = warps_[i]->instructions;
      auto rest = take_turn(i, slice);
      if (rest.has_value()) {
        leave_all();
        rest->is_first = spent == spent_before;
        rest->spent = spent + (warps_[i]->instructions - before);
        return rest;
      }
      spent += warps_[i]->instructions - before;
    }
    slice = std::min(2 * slice, most);
  }
  tell_regions();
  return std::nullopt;
}

/// @param number of the warp.
/// @returns nothing where the warps go on here.
std::optional<NativeTurns::Rest> NativeTurns::take_turn(
    std::size_t number,
    std::uint64_t slice) {
  WarpRunner& warp = *warps_[number];
  const std::uint64_t limit = warp.instructions + slice;
  while (true) {
    const Outcome outcome = call(number, limit);
    if (outcome == Outcome::kStops) {
      return std::nullopt;
    }
    if (outcome >= Outcome::kLeaves) {
      const std::uint64_t left = limit - std::min(limit, warp.instructions);
      if (outcome == Outcome::kLeavesCall) {
        return run_by_itself(number, {number, left, slice, std::nullopt});
      }
      return Rest{number, left, slice, std::nullopt};
    }
    if (outcome == Outcome::kExits) {
      --live_;
      ++exited_;
    } else {
      ++waiting_;
    }
    if (waiting_ == 0 || waiting_ != live_) {
      return std::nullopt;
    }
    open_barrier();
    if (outcome == Outcome::kExits) {
      return std::nullopt;
    }
    // The last one to come goes on at once.
  }
}

/// A warp has left native code, of which ran_ is the last call.
std::optional<NativeTurns::Rest> NativeTurns::run_by_itself(
    std::size_t number,
    Rest rest) {
  WarpRunner& warp = *warps_[number];
  Turn& turn = turns_[number];
  const Fault fault = warp.fault; // of the call
  leave(number);
  warp.fault = fault;
  warp.go_on_at(
      ran_.resumes ? turn.pc : ran_.begin,
      std::nullopt,
      ran_.state.loads_only != 0);
  warp.leave_end_to_run(ran_);
  turn.state = State::kLeft;
  if (waiting_ != 0) {
    leave_all(); // it may be the one that opens the barrier
    return rest;
  }
  leave_exits();
  rest.status = warp.run(rest.left);
  if (rest.status != WarpRunner::Status::kFinished || awaited_ != 0) {
    return rest;
  }
  --live_;
  return std::nullopt;
}

/// Executes native code of a warp as long as it goes on in native code.
/// @param limit of its instructions.
NativeTurns::Outcome NativeTurns::call(
    std::size_t number,
    std::uint64_t limit) {
  WarpRunner& warp = *warps_[number];
  Turn& turn = turns_[number];
  RegionState& state = ran_.state;
  std::byte* const registers = warp.enter_kernel();
  if (!prepare(turn, registers)) {
    return Outcome::kLeaves;
  }
  if (turn.state == State::kBegins && !code_->regions->has_lanes_in_turns()) {
    // Else the first branch back would end the code for nothing.
    warp.begin_slice();
  }
  block_.forget_stale_ranges();
  state.warp = &warp;
  state.loads_only = turn.loads_only ? 1 : 0;
  while (true) {
    state.limit = std::min(limit, warp.slice_end());
    state.instructions = warp.instructions;
    state.thread_instructions = warp.thread_instructions;
    ran_.result = call_region(&ran_.region, kNowhere, &state, registers);
    const auto pc = static_cast<std::uint32_t>(ran_.result);
    const Outcome outcome = outcome_of_call(warp, limit);
    const bool goes_on = outcome == Outcome::kGoesOn;
    const NativeRegion* const next = goes_on ? region_at(pc) : nullptr;
    if (outcome == Outcome::kLeavesCall || (goes_on && next == nullptr)) {
      return Outcome::kLeavesCall;
    }
    count(state.instructions - warp.instructions);
    // The exit or the arrival is executed, too.
    const bool is_done =
        outcome == Outcome::kExits || outcome == Outcome::kWaits;
    warp.instructions = state.instructions + (is_done ? 1 : 0);
    warp.thread_instructions =
        state.thread_instructions + (is_done ? kLanes : 0);
    if (!goes_on) {
      end_turn(turn, outcome);
      return outcome;
    }
    ran_.from = ran_.begin;
    if (end_of(ran_.result) == RegionEnd::kLimit) {
      ran_.from = kNowhere;
      warp.begin_slice();
    }
    ran_.resumes = false;
    ran_.region = next;
    ran_.begin = pc;
    state.resume = 0;
  }
}

/// What comes next of a warp.
/// @returns whether there is code for it.
bool NativeTurns::prepare(const Turn& turn, std::byte* registers) {
  ran_.from = kNowhere;
  ran_.resumes = false;
  ran_.state.resume = 0;
  if (turn.state == State::kBegins) {
    for (const auto& [special, value] : specials_) {
      write_affine(registers + special->slot, value, 0, 0, special->width);
    }
    ran_.region = first_;
    ran_.begin = 0;
    return true;
  }
  if (!turn.paused.has_value()) {
    ran_.region = region_at(turn.pc);
    ran_.begin = turn.pc;
    return ran_.region != nullptr;
  }
  ran_.resumes = true;
  ran_.region = turn.paused->region;
  ran_.begin = turn.paused->begin;
  ran_.state.resume = turn.paused->resume;
  return true;
}

/// What a warp does where native code has ended.
/// @param limit of its instructions.
NativeTurns::Outcome NativeTurns::outcome_of_call(
    WarpRunner& warp,
    std::uint64_t limit) {
  const RegionState& state = ran_.state;
  const RegionEnd end = end_of(ran_.result);
  const auto pc = static_cast<std::uint32_t>(ran_.result);
  if (state.levels != 0) {
    return Outcome::kLeavesCall;
  }
  if (end == RegionEnd::kLimit) {
    // Other splits of the warp would come next; there are none.
    return state.instructions < limit && state.instructions >= warp.slice_end()
        ? Outcome::kGoesOn
        : Outcome::kLeavesCall;
  }
  if (end != RegionEnd::kGoesOn && end != RegionEnd::kPauses) {
    return Outcome::kLeavesCall;
  }
  if (is_exit(pc)) {
    return Outcome::kExits;
  }
  if (is_plain_barrier(warp, pc)) {
    return Outcome::kWaits;
  }
  if (state.loads_only != 0 && is_first_store(pc)) {
    return Outcome::kStops;
  }
  return end == RegionEnd::kGoesOn && state.instructions != warp.instructions
      ? Outcome::kGoesOn
      : Outcome::kLeavesCall;
}

/// What comes behind the last call.
void NativeTurns::end_turn(Turn& turn, Outcome outcome) {
  const bool pauses = end_of(ran_.result) == RegionEnd::kPauses;
  turn.pc = static_cast<std::uint32_t>(ran_.result);
  turn.paused.reset();
  if (pauses) {
    turn.paused =
        WarpRunner::Paused{ran_.region, ran_.begin, ran_.state.resume};
  }
  if (outcome == Outcome::kStops) {
    turn.state = State::kGoesOn;
    turn.loads_only = false;
    return;
  }
  const bool exits = outcome == Outcome::kExits;
  turn.state = exits ? State::kExited : State::kAtBarrier;
  turn.loads_only = !is_alone();
}

void NativeTurns::open_barrier() {
  waiting_ = 0;
  for (Turn& turn : turns_) {
    if (turn.state == State::kAtBarrier) {
      turn.state = State::kGoesOn;
      ++turn.pc;
    }
  }
}

/// The region that begins at an instruction; null where there is none.
const NativeRegion* NativeTurns::region_at(std::uint32_t pc) const {
  const NativeRegion* const region = code_->regions->at(pc);
  return region != nullptr && region->stop == kNowhere ? region : nullptr;
}

/// Tells what the last call did, or will tell.
void NativeTurns::count(std::uint64_t executed) {
  if (ran_.resumes) {
    code_->regions->resumed(ran_.begin, executed);
  } else if (ran_.begin != 0 || ran_.from != kNowhere) {
    code_->regions->entered(ran_.begin, executed, false, {}, ran_.from);
  } else {
    ++calls_;
    executed_ += executed;
  }
}

void NativeTurns::tell_regions() {
  if (calls_ != 0) {
    code_->regions->entered(0, calls_, executed_);
  }
  calls_ = 0;
  executed_ = 0;
}

/// Whether all lanes exit at an instruction.
bool NativeTurns::is_exit(std::uint32_t pc) {
  if (pc == exit_) {
    return true;
  }
  const Inst& inst = code_->instructions[pc];
  if (inst.run != control_instruction || inst.guard != kNoSlot ||
      code_->control_at(pc).kind != ControlKind::kExit) {
    return false;
  }
  exit_ = pc;
  return true;
}

/// Whether all threads of the block wait at an instruction for each other, and
/// are given nothing by the others: there is one barrier that they come to.
bool NativeTurns::is_plain_barrier(WarpRunner& warp, std::uint32_t pc) {
  if (pc == barrier_) {
    return true;
  }
  const Inst& inst = code_->instructions[pc];
  if (inst.run != control_instruction || inst.guard != kNoSlot) {
    return false;
  }
  const Control& control = code_->control_at(pc);
  const bool is_first = control.barrier == kNoSlot ||
      ((control.barrier & kConstantBit) != 0 &&
       *lanes<std::uint32_t>(warp, control.barrier) == 0);
  if (control.kind != ControlKind::kBarrier || !is_first ||
      control.thread_count != kNoSlot ||
      control.reduction != BarrierReduction::kNone) {
    return false;
  }
  barrier_ = pc;
  return true;
}

bool NativeTurns::is_first_store(std::uint32_t pc) const {
  const auto& stores = code_->first_stores;
  return std::binary_search(stores.begin(), stores.end(), pc);
}

/// Whether a warp waits for no others before it stores.
bool NativeTurns::is_alone() const {
  return warps_.size() == 1 || code_->first_stores.empty();
}

/// Tells the block how many threads have exited.
void NativeTurns::leave_exits() {
  if (exited_ != 0) {
    block_.threads_exited(exited_ * kLanes);
  }
  exited_ = 0;
}

/// Leaves a warp to its WarpRunner.
void NativeTurns::leave(std::size_t number) {
  WarpRunner& warp = *warps_[number];
  Turn& turn = turns_[number];
  const State state = std::exchange(turn.state, State::kLeft);
  if (state == State::kExited) {
    warp.has_exited();
  } else if (state != State::kLeft) {
    warp.start(
        static_cast<std::uint32_t>(number), kAllLanes, warps_.size() == 1);
    if (state != State::kBegins) {
      warp.go_on_at(turn.pc, turn.paused, turn.loads_only);
    }
    if (state == State::kAtBarrier) {
      warp.arrive_at_barrier();
    }
  }
}

void NativeTurns::leave_all() {
  tell_regions();
  leave_exits();
  for (std::size_t i = 0; i < warps_.size(); ++i) {
    leave(i);
  }
}

} // namespace cudasim::engine
