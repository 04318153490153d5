#include "cudasim/engine/warp/splits.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "cudasim/engine/warp/calls.h"

namespace cudasim::engine {

void Splits::start(Frame* entry, Mask lanes) {
  splits_.clear();
  joins_.clear();
  // In its place: a copy of what was written by parts would wait for them.
  Split& split = splits_.emplace_back();
  split.mask = lanes;
  split.frame = entry;
  current_ = 0;
}

std::size_t Splits::next_but_current() {
  // Backwards, from the last one on behind the first.
  std::size_t candidate = std::min(current_, splits_.size());
  for (std::size_t i = 0; i < splits_.size(); ++i) {
    candidate = (candidate == 0 ? splits_.size() : candidate) - 1;
    if (splits_[candidate].state == Split::State::kReady) {
      current_ = candidate;
      return candidate;
    }
  }
  return splits_.size();
}

void Splits::end_turn(std::size_t at) {
  splits_[at].last_turn = instructions_;
  current_ = at;
  for (std::size_t i = 0; i < splits_.size(); ++i) {
    if (splits_[i].state == Split::State::kReady &&
        splits_[i].last_turn < splits_[current_].last_turn) {
      current_ = i;
    }
  }
}

void Splits::newest_first() {
  current_ = splits_.empty() ? 0 : splits_.size() - 1;
}

void Splits::remove(std::size_t at) {
  splits_.erase(splits_.begin() + static_cast<std::ptrdiff_t>(at));
}

/// Lanes are at a join before others.
/// @param since instructions of the warp when the first came.
void Splits::wait(Join* join, Mask lanes, std::uint64_t since) {
  if (join->arrived == 0) {
    join->since = since;
  }
  join->arrived |= lanes;
}

/// A join at which all lanes of a split are expected.
Join* Splits::new_join(const Split& split, std::uint32_t pc) {
  Join* join = joins_.take();
  join->parent = split.join;
  join->frame = split.frame;
  join->pc = pc;
  join->expected = split.mask;
  return join;
}

std::size_t Splits::part(
    std::size_t at,
    const Control& control,
    Mask active,
    std::uint64_t since) {
  Split& split = splits_[at];
  const std::uint32_t next = split.pc + 1;
  const Mask rest = split.mask & ~active;
  Join* join = split.join;
  if (control.join != kNowhere &&
      (join == nullptr || join->frame != split.frame ||
       join->pc != control.join)) {
    join = new_join(split, control.join);
    split.join = join;
  }
  if (control.target == control.join) {
    wait(join, active, since);
    split.mask = rest;
    split.pc = next;
    return at;
  }
  split.mask = active;
  split.pc = control.target;
  if (next == control.join) {
    wait(join, rest, since);
    return at;
  }
  // Last, as lanes that have met are: whether some met in between makes no
  // difference to the order.
  const Split first = split;
  split.mask = rest;
  split.pc = next;
  std::rotate(
      splits_.begin() + static_cast<std::ptrdiff_t>(at),
      splits_.begin() + static_cast<std::ptrdiff_t>(at) + 1,
      splits_.end());
  splits_.push_back(first);
  newest_first();
  return current_;
}

void Splits::part(
    std::size_t at,
    const Control& control,
    const std::uint32_t* targets,
    Mask active) {
  const Split split = splits_[at];
  Join* join = split.join;
  const bool on_its_way =
      join != nullptr && join->frame == split.frame && join->pc == control.join;
  if (control.join != kNowhere && !on_its_way) {
    join = new_join(split, control.join);
  }
  remove(at);
  const auto add = [&](Mask mask, std::uint32_t pc) {
    Split part;
    part.frame = split.frame;
    part.join = join;
    part.mask = mask;
    part.pc = pc;
    part.last_turn = split.last_turn;
    splits_.push_back(part);
  };
  for (Mask left = active; left != 0;) {
    const std::uint32_t target = targets[__builtin_ctz(left)];
    Mask together = 0;
    for (Mask lane = left; lane != 0; lane &= lane - 1) {
      if (targets[__builtin_ctz(lane)] == target) {
        together |= lane & (~lane + 1);
      }
    }
    add(together, target);
    left &= ~together;
  }
  const Mask rest = split.mask & ~active;
  if (rest != 0) {
    add(rest, split.pc + 1);
  }
}

void Splits::set_apart(std::size_t at, Mask active, Mask waiting) {
  Split& split = splits_[at];
  Join* join = new_join(split, split.pc + 1);
  wait(join, waiting, instructions_);
  Split rest = split;
  rest.mask = split.mask & ~active & ~waiting;
  rest.join = join;
  split.mask = active;
  split.join = join;
  if (rest.mask != 0) {
    splits_.push_back(rest);
  }
}

void Splits::call(std::size_t at, Frame* frame) {
  Split& caller = splits_[at];
  frame->return_pc = caller.pc + 1;
  Join* join = new_join(caller, kNowhere);
  join->frame = frame;
  caller.frame = frame;
  caller.pc = 0;
  caller.join = join;
}

/// The lanes that have arrived go on together. The join is over when no more
/// are expected.
void Splits::go_on(Join* join) {
  Split split;
  split.mask = join->arrived;
  split.join = join->parent;
  split.last_turn = instructions_;
  join->expected &= ~join->arrived;
  join->arrived = 0;
  if (join->pc == kNowhere) {
    Frame* frame = join->frame;
    pass_results(warp_, *frame, split.mask);
    split.pc = frame->return_pc;
    split.frame = frame->parent;
    if (join->expected == 0) {
      frames_.give_back(frame);
    }
  } else {
    split.pc = join->pc;
    split.frame = join->frame;
  }
  if (join->expected == 0) {
    joins_.give_back(join);
  }
  splits_.push_back(split);
}

std::size_t Splits::part(
    std::size_t at,
    const Code& code,
    const PartedLanes& lanes) {
  const Mask taken = lanes.taken & splits_[at].mask;
  if (taken == 0 || taken == splits_[at].mask) {
    return at; // all of them go on, or come to where they meet
  }
  const Control& control = code.control_at(lanes.branch);
  splits_[at].pc = lanes.branch;
  at = part(at, control, taken, lanes.since);
  if (lanes.is_second == 0 || control.target == control.join) {
    return at;
  }
  wait(splits_[at].join, taken, lanes.since);
  remove(at);
  newest_first();
  return current_;
}

void Splits::arrive(Join* join, Mask mask) {
  wait(join, mask, instructions_);
  if (join->arrived == join->expected) {
    go_on(join);
  }
}

void Splits::leave(Join* join, const Join* last, Mask mask) {
  while (join != last) {
    Join* parent = join->parent;
    join->expected &= ~mask;
    if (join->expected == 0) {
      if (join->pc == kNowhere) {
        frames_.give_back(join->frame);
      }
      joins_.give_back(join);
    } else if (join->arrived == join->expected) {
      go_on(join);
    }
    join = parent;
  }
}

bool Splits::release_waiting(Join* join, Mask wanted) {
  for (; join != nullptr; join = join->parent) {
    if ((join->arrived & wanted) != 0) {
      go_on(join);
      return true;
    }
  }
  return false;
}

bool Splits::release_late(Join* join, std::uint64_t patience) {
  while (join != nullptr &&
         (join->arrived == 0 || instructions_ - join->since <= patience)) {
    join = join->parent;
  }
  if (join != nullptr) {
    go_on(join);
  }
  return join != nullptr;
}

bool Splits::release_any_waiting(Mask wanted) {
  for (std::size_t i = 0; i < splits_.size(); ++i) {
    if (release_waiting(splits_[i].join, wanted)) {
      return true;
    }
  }
  return false;
}

void Splits::release(
    std::uint32_t barrier,
    bool reduced,
    std::uint32_t result) {
  for (Split& split : splits_) {
    if (split.state != Split::State::kAtBarrier || split.barrier != barrier) {
      continue;
    }
    const Control& control = split.frame->code->control_at(split.pc);
    // Others may have come to a barrier without reduction of the same number.
    if (reduced && control.reduction != BarrierReduction::kNone) {
      std::byte* place = split.frame->registers + control.reduced;
      if (control.reduction == BarrierReduction::kPopulation) {
        for (Mask left = split.active; left != 0; left &= left - 1) {
          std::memcpy(place + 4 * __builtin_ctz(left), &result, 4);
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
