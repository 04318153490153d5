// Frames of functions and the calls that make them.
#include <algorithm>
#include <cstring>
#include <new>

#include "cudasim/engine/builtins.h"
#include "cudasim/engine/scheduler.h"

namespace cudasim::engine {

Frame* WarpRunner::new_frame(
    const Code& code,
    Frame* parent,
    std::uint64_t local_frame_begin) {
  Frame* frame = nullptr;
  for (std::size_t i = 0; i < free_frames_.size(); ++i) {
    if (free_frames_[i]->capacity >= code.frame_bytes) {
      frame = free_frames_[i];
      free_frames_.erase(free_frames_.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
  }
  if (frame == nullptr) {
    frames_.push_back(std::make_unique<Frame>());
    frame = frames_.back().get();
    frame->capacity = std::max<std::size_t>(code.frame_bytes, 4096);
    frame->registers = static_cast<std::byte*>(
        ::operator new(frame->capacity, std::align_val_t{64}));
    std::memset(frame->registers, 0, frame->capacity);
  }
  frame->code = &code;
  frame->parent = parent;
  frame->local_frame = local_frame_begin;
  frame->call = nullptr;
  fill_specials(
      code, runner_.place(index), local_frame_begin, frame->registers);
  return frame;
}

void WarpRunner::free_frame(Frame* frame) {
  free_frames_.push_back(frame);
}

Join* WarpRunner::new_join() {
  if (free_joins_.empty()) {
    joins_.push_back(std::make_unique<Join>());
    free_joins_.push_back(joins_.back().get());
  }
  Join* join = free_joins_.back();
  free_joins_.pop_back();
  *join = Join{};
  return join;
}

void WarpRunner::free_join(Join* join) {
  free_joins_.push_back(join);
}

/// @returns false on a fault.
bool WarpRunner::call(
    std::size_t at,
    const Inst& inst,
    const Control& control,
    Mask active) {
  Split& split = splits_[at];
  if (control.builtin != Builtin::kNone) {
    const bool well = call_builtin(*this, runner_, inst, control, active);
    split.pc += 1;
    return well;
  }
  const Code* callee = control.callee;
  if (callee == nullptr) {
    // An indirect call; lanes may call different functions, one group at a
    // time.
    const auto* targets = lanes<std::uint64_t>(*this, inst.operands[0]);
    const std::uint64_t target = targets[__builtin_ctz(active)];
    Mask same = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
      if ((active >> lane & 1) != 0 && targets[lane] == target) {
        same |= 1u << lane;
      }
    }
    const auto& functions = runner_.grid().kernel->functions;
    const auto found = functions.find(target);
    if (found == functions.end()) {
      access_fault(
          *this,
          inst,
          FaultKind::kIllegalAddress,
          __builtin_ctz(active),
          target,
          8,
          false);
      return false;
    }
    callee = found->second;
    if (same != split.mask) {
      // The others stay at the call and make it when it is their turn.
      Join* join = new_join();
      join->parent = split.join;
      join->frame = split.frame;
      join->pc = split.pc + 1;
      join->expected = split.mask;
      Split rest = split;
      rest.mask = split.mask & ~same;
      rest.join = join;
      split.mask = same;
      split.join = join;
      const Mask idle = rest.mask & ~active;
      if (idle != 0) {
        // Lanes whose guard is off are past the call already.
        join->arrived |= idle;
        rest.mask &= ~idle;
      }
      if (rest.mask != 0) {
        const Split copy = rest;
        splits_.push_back(copy);
      }
      active = same;
    }
  } else if (active != split.mask) {
    Join* join = new_join();
    join->parent = split.join;
    join->frame = split.frame;
    join->pc = split.pc + 1;
    join->expected = split.mask;
    join->arrived = split.mask & ~active;
    split.mask = active;
    split.join = join;
  }
  Split& caller = splits_[at];
  const std::uint64_t begin =
      caller.frame->local_frame + caller.frame->code->local_bytes;
  if (begin + callee->local_bytes > local_size) {
    fault.kind = FaultKind::kStackOverflow;
    fault.lane = static_cast<std::uint8_t>(__builtin_ctz(active));
    fault.line = inst.line;
    return false;
  }
  for (std::size_t i = 0;
       i < control.arguments.size() && i < callee->parameters.size();
       ++i) {
    for (int lane = 0; lane < kLanes; ++lane) {
      if ((active >> lane & 1) != 0) {
        std::byte* base =
            local_base + static_cast<std::uint64_t>(lane) * local_size;
        std::memcpy(
            base + begin + callee->parameters[i].to,
            base + caller.frame->local_frame + control.arguments[i].from,
            callee->parameters[i].size);
      }
    }
  }
  Frame* frame = new_frame(*callee, caller.frame, begin);
  frame->return_pc = caller.pc + 1;
  frame->call = &control;
  Join* join = new_join();
  join->parent = caller.join;
  join->frame = frame;
  join->expected = active;
  caller.frame = frame;
  caller.pc = 0;
  caller.join = join;
  return true;
}

} // namespace cudasim::engine
