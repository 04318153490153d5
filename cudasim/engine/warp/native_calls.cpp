// How a warp's native code is called, and what follows from how it ends.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "cudasim/engine/translation/region.h"
#include "cudasim/engine/translation/regions.h"
#include "cudasim/engine/warp/cursor.h"
#include "cudasim/engine/warp/warp_runner.h"

namespace cudasim::engine {

/// Executes as much as there is native code for.
/// @returns whether the split's turn is over, as `turn` says; else `here` is
/// where the interpreter goes on.
bool WarpRunner::run_native(
    std::size_t& at,
    Cursor& here,
    std::uint64_t slice_end,
    Turn* turn) {
  if (here.code->regions == nullptr || block_.observer != nullptr) {
    return false;
  }
  Regions& regions = here.mask == kAllLanes && here.join == kNowhere
      ? *here.code->regions
      : here.code->regions->of(
            splits_.size() == 1 ? WarpLanes::kRest : WarpLanes::kSome);
  const Regions::Seen seen{bases[0], here.mask, here.join};
  std::uint32_t from = kNowhere;
  while (here.pc != here.stop) {
    Ran ran;
    if (ran_ != nullptr) {
      ran = *std::exchange(ran_, nullptr);
      from = ran.from;
    } else if (!call_native(regions, seen, here, slice_end, &ran)) {
      return false;
    }
    const RegionState& state = ran.state;
    const RegionEnd end = end_of(ran.result);
    const bool refused = end == RegionEnd::kNotEntered;
    const std::uint64_t executed =
        refused ? 0 : state.instructions - instructions;
    if (ran.resumes) {
      regions.resumed(ran.begin, executed);
    } else {
      regions.entered(ran.begin, executed, refused, seen, from);
    }
    if (refused) {
      return false;
    }
    from = ran.begin;
    instructions = state.instructions;
    thread_instructions = state.thread_instructions;
    here.pc = splits_[at].pc = static_cast<std::uint32_t>(ran.result);
    if (state.levels != 0) {
      at = part_lanes(at, state, here.pc);
      here = Cursor(splits_[at], loads_only_);
    } else if (loads_only_) {
      here.stop_at_store();
    }
    switch (end) {
      case RegionEnd::kFault:
        faulting_.note(here.program[here.pc], *here.code);
        *turn = Turn::kFault;
        return true;
      case RegionEnd::kYield:
        yielded_ = true;
        *turn = !give_way(at, kPatienceWithYields) ? Turn::kFault
            : splits_.size() == 1                  ? Turn::kBudget
                                                   : Turn::kOver;
        return true;
      case RegionEnd::kLimit:
        *turn = instructions < slice_end_ ? Turn::kBudget
            : give_way(at, kPatience)     ? Turn::kOver
                                          : Turn::kFault;
        return true;
      case RegionEnd::kPauses:
        paused_ = Paused{ran.region, ran.begin, state.resume};
        return false;
      case RegionEnd::kGoesOn:
      case RegionEnd::kNotEntered:
        break;
    }
    if (state.levels != 0) {
      regions.parted(ran.begin, here.pc);
      return false;
    }
    if (ends_warp(splits_[at], here.program[here.pc])) {
      end_warp();
      *turn = Turn::kOver;
      return true;
    }
    if (executed == 0) {
      return false; // the interpreter has to
    }
  }
  return false;
}

/// Calls the native code that begins at an instruction, or goes on there.
/// @returns false where there is none.
bool WarpRunner::call_native(
    Regions& regions,
    const Regions::Seen& seen,
    const Cursor& here,
    std::uint64_t slice_end,
    Ran* ran) {
  const auto paused = std::exchange(paused_, std::nullopt);
  ran->resumes = paused.has_value();
  ran->begin = ran->resumes ? paused->begin : here.pc;
  ran->region = ran->resumes ? paused->region : regions.at(ran->begin);
  if (ran->region == nullptr) {
    regions.visited(ran->begin, seen);
    ran->region = regions.at(ran->begin);
  }
  // Also where lanes meet that parted elsewhere.
  if (ran->region == nullptr || ran->region->stop != here.join) {
    return false;
  }
  RegionState& state = ran->state;
  state.warp = this;
  state.instructions = instructions;
  state.thread_instructions = thread_instructions;
  state.limit = slice_end;
  state.mask = here.mask;
  state.loads_only = loads_only_ ? 1 : 0;
  state.resume = ran->resumes ? paused->resume : 0;
  state.set_block(block_, block_.ranges);
  ran->result = call_region(&ran->region, here.join, &state, bases[0]);
  return true;
}

/// Puts lanes that parted in native code where the interpreter has them.
/// @param at all lanes. @param pc where those are for which the code ended.
/// @returns their split.
std::size_t WarpRunner::part_lanes(
    std::size_t at,
    const RegionState& state,
    std::uint32_t pc) {
  const Code& code = *splits_[at].frame->code;
  for (std::uint64_t level = 0; level < state.levels; ++level) {
    at = splits_.part(at, code, state.parted[level]);
  }
  splits_[at].pc = pc;
  return at;
}

/// Whether all lanes of a whole warp are together at an exit.
bool WarpRunner::ends_warp(const Split& split, const Inst& inst) const {
  return inst.run == control_instruction && inst.guard == kNoSlot &&
      split.mask == live && split.join == nullptr && splits_.size() == 1 &&
      split.frame->code->control_at(inst.index).kind == ControlKind::kExit;
}

/// Executes their exit.
void WarpRunner::end_warp() {
  ++instructions;
  const std::uint32_t threads = lane_count(live);
  thread_instructions += threads;
  has_exited();
  block_.threads_exited(threads);
}

void WarpRunner::has_exited() {
  live = 0;
  splits_.end();
}

std::byte* WarpRunner::enter_kernel() {
  live = kAllLanes;
  enter(*this, *entry_);
  return entry_->registers;
}

void WarpRunner::go_on_at(
    std::uint32_t pc,
    const std::optional<Paused>& paused,
    bool loads_only) {
  splits_[0].pc = pc;
  paused_ = paused;
  loads_only_ = loads_only;
  enter(*this, *splits_[0].frame);
}

void WarpRunner::arrive_at_barrier() {
  barrier(0, splits_[0].frame->code->control_at(splits_[0].pc), live);
}

} // namespace cudasim::engine
