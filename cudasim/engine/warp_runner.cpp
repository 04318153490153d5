// The loop that executes a warp's instructions, and control flow.
#include "cudasim/engine/scheduler.h"

#include <algorithm>
#include <cstring>

#include "cudasim/engine/builtins.h"

namespace cudasim::engine {
namespace {

/// Instructions after which splits of a warp change over.
constexpr std::uint64_t kSplitSlice = 4096;
/// Instructions after which lanes that wait at a join go on without those that
/// are still on their way: these may be spinning until one of the others gets
/// on.
constexpr std::uint64_t kPatience = 1 << 14;
/// The same where they let others go first (nanosleep, a wait for an mbarrier).
constexpr std::uint64_t kPatienceWithYields = 1 << 8;

Mask guarded(Warp& warp, const Inst& inst, Mask mask) {
  if (inst.guard == kNoSlot) {
    return mask;
  }
  const Mask set = predicate(warp, inst.guard);
  return mask & (inst.guard_negated ? ~set : set);
}

} // namespace

WarpRunner::WarpRunner(BlockRunner& block) : runner_(block) {
  this->block = &block;
  ranges = &cache_;
  local_capacity_ = block.grid().local_bytes;
  local_size = local_capacity_;
  if (local_capacity_ != 0) {
    local_memory_.reset(new std::byte[local_capacity_ * kLanes + 64]());
    const auto address = reinterpret_cast<std::uint64_t>(local_memory_.get());
    local_base = local_memory_.get() + ((64 - address % 64) % 64);
  }
}

WarpRunner::~WarpRunner() {
  for (const auto& frame : frames_) {
    ::operator delete(frame->registers, std::align_val_t{64});
  }
}

void WarpRunner::start(std::uint32_t warp_index, Mask lanes_of_block) {
  index = warp_index;
  live = lanes_of_block;
  fault = Fault{};
  splits_.clear();
  free_frames_.clear();
  for (const auto& frame : frames_) {
    free_frames_.push_back(frame.get());
  }
  free_joins_.clear();
  for (const auto& join : joins_) {
    free_joins_.push_back(join.get());
  }
  Split split;
  split.mask = lanes_of_block;
  split.frame = new_frame(*runner_.grid().kernel->entry, nullptr, 0);
  splits_.push_back(split);
  current_ = 0;
}

void WarpRunner::enter(const Frame& frame) {
  bases[0] = frame.registers;
  bases[1] = frame.code->constants.get();
  local_frame = frame.local_frame;
}

bool WarpRunner::can_run() const {
  return std::any_of(splits_.begin(), splits_.end(), [](const Split& split) {
    return split.state != Split::State::kAtBarrier;
  });
}

Flow WarpRunner::note_fault(const Inst& inst, const Code& code) {
  faulting_code_ = &code;
  instruction_text_ = code.texts[inst.index];
  return Flow::kFault;
}

/// All other splits come before this one again.
void WarpRunner::end_turn(std::size_t at) {
  // They are looked through backwards.
  current_ = (at + splits_.size() - 1) % splits_.size();
}

WarpRunner::Status WarpRunner::run(std::uint64_t budget) {
  const std::uint64_t limit = instructions + budget;
  BlockChecker* const checker = runner_.checker();
  while (true) {
    // The newest split first: it is the one that others wait for.
    std::size_t at = splits_.size();
    for (std::size_t i = 0; i < splits_.size(); ++i) {
      const std::size_t candidate =
          (current_ + splits_.size() - i) % splits_.size();
      if (splits_[candidate].state == Split::State::kReady) {
        at = candidate;
        break;
      }
    }
    if (at == splits_.size()) {
      if (splits_.empty()) {
        return Status::kFinished;
      }
      if (release_gathered()) {
        if (fault.kind != FaultKind::kNone) {
          return Status::kFault;
        }
        continue;
      }
      const auto stuck =
          std::find_if(splits_.begin(), splits_.end(), [](const Split& split) {
            return split.state == Split::State::kGathering;
          });
      const bool waits =
          std::any_of(splits_.begin(), splits_.end(), [](const Split& split) {
            return split.state == Split::State::kAtBarrier;
          });
      if (stuck != splits_.end() && !waits) {
        // Lanes of a mask that will never come: real devices leave the result
        // undefined, so whoever is there goes on.
        if (release_group(static_cast<std::size_t>(stuck - splits_.begin())) ==
            Flow::kFault) {
          return Status::kFault;
        }
        continue;
      }
      // Lanes that wait at a join for those at a barrier may be what the
      // barrier waits for, or may be about to exit.
      if (release_any_waiting()) {
        continue;
      }
      return Status::kBlocked;
    }
    current_ = at;
    const std::uint64_t slice_end = std::min(limit, instructions + kSplitSlice);
    std::uint32_t pc = splits_[at].pc;
    Mask mask = splits_[at].mask;
    Frame* frame = splits_[at].frame;
    Join* join = splits_[at].join;
    const Code* code = frame->code;
    const Inst* program = code->instructions.data();
    std::uint32_t stop =
        join != nullptr && join->frame == frame ? join->pc : kNowhere;
    enter(*frame);
    bool stay = true;
    while (stay) {
      if (pc == stop) {
        // Wait for the others, or go on as the last to come.
        remove(at);
        const bool completed = arrive(join, mask);
        current_ = splits_.empty() ? 0 : splits_.size() - 1;
        static_cast<void>(completed);
        break;
      }
      const Inst& inst = program[pc];
      const Mask active = guarded(*this, inst, mask);
      ++instructions;
      if (active == 0) {
        ++pc;
        continue;
      }
      thread_instructions += active == kAllLanes
          ? kLanes
          : static_cast<std::uint64_t>(__builtin_popcount(active));
      if (checker != nullptr) {
        checker->before({this, code, &inst}, code->accesses[pc], active);
      }
      const Flow flow = inst.run(*this, inst, active);
      if (flow == Flow::kNext) {
        ++pc;
        continue;
      }
      splits_[at].pc = pc;
      if (flow == Flow::kFault) {
        note_fault(inst, *code);
        return Status::kFault;
      }
      if (flow == Flow::kYield) {
        splits_[at].pc = pc + 1;
        if (instructions - last_release_ > kPatienceWithYields) {
          last_release_ = instructions;
          release_waiting(join);
        }
        end_turn(at);
        if (splits_.size() == 1) {
          return Status::kBudget;
        }
        break;
      }
      const Control& control = code->controls[code->control_of[pc]];
      switch (control.kind) {
        case ControlKind::kBranch: {
          if (active == mask) {
            pc = control.target;
          } else {
            part(at, control, active);
            pc = splits_[at].pc;
            mask = splits_[at].mask;
            join = splits_[at].join;
            stop =
                join != nullptr && join->frame == frame ? join->pc : kNowhere;
          }
          if (pc <= inst.index && instructions >= slice_end) {
            // The turn is over: others of this warp come next.
            splits_[at].pc = pc;
            if (instructions - last_release_ > kPatience) {
              last_release_ = instructions;
              release_waiting(join);
            }
            end_turn(at);
            stay = false;
          }
          break;
        }
        case ControlKind::kIndexedBranch: {
          const auto* indices = lanes<std::uint32_t>(*this, inst.operands[0]);
          const Mask rest = mask & ~active;
          if (control.join != kNowhere && control.join != stop) {
            Join* meeting = new_join();
            meeting->parent = join;
            meeting->frame = frame;
            meeting->pc = control.join;
            meeting->expected = mask;
            join = meeting;
          }
          Split base;
          base.frame = frame;
          base.join = join;
          Mask left = active;
          bool valid = true;
          std::vector<Split> parts;
          while (left != 0) {
            const std::uint32_t chosen = indices[__builtin_ctz(left)];
            if (chosen >= control.targets.size()) {
              valid = false;
              break;
            }
            base.mask = 0;
            for (int lane = 0; lane < kLanes; ++lane) {
              if ((left >> lane & 1) != 0 && indices[lane] == chosen) {
                base.mask |= 1u << lane;
              }
            }
            left &= ~base.mask;
            base.pc = control.targets[chosen];
            parts.push_back(base);
          }
          if (!valid) {
            access_fault(
                *this,
                inst,
                FaultKind::kIllegalInstruction,
                __builtin_ctz(left),
                0,
                0,
                false);
            note_fault(inst, *code);
            return Status::kFault;
          }
          if (rest != 0) {
            base.mask = rest;
            base.pc = pc + 1;
            parts.push_back(base);
          }
          remove(at);
          splits_.insert(splits_.end(), parts.begin(), parts.end());
          current_ = splits_.size() - 1;
          stay = false;
          break;
        }
        case ControlKind::kCall: {
          if (!call(at, inst, control, active)) {
            note_fault(inst, *code);
            return Status::kFault;
          }
          if (instructions >= limit) {
            return Status::kBudget;
          }
          // A builtin leaves everything as it is; a call changes the frame.
          pc = splits_[at].pc;
          mask = splits_[at].mask;
          frame = splits_[at].frame;
          join = splits_[at].join;
          code = frame->code;
          program = code->instructions.data();
          stop = join != nullptr && join->frame == frame ? join->pc : kNowhere;
          enter(*frame);
          break;
        }
        case ControlKind::kReturn:
        case ControlKind::kExit: {
          const Mask rest = mask & ~active;
          if (rest == 0) {
            remove(at);
            current_ = splits_.empty() ? 0 : splits_.size() - 1;
            stay = false;
          } else {
            splits_[at].mask = mask = rest;
            splits_[at].pc = ++pc;
          }
          if (control.kind == ControlKind::kExit) {
            live &= ~active;
            leave(join, nullptr, active);
            runner_.threads_exited();
          } else {
            Join* last = join;
            while (last->pc != kNowhere) {
              last = last->parent;
            }
            leave(join, last, active);
            arrive(last, active);
          }
          if (stay) {
            // The join may have been completed without this split's lanes.
            join = splits_[at].join;
          } else {
            current_ = splits_.empty() ? 0 : splits_.size() - 1;
          }
          break;
        }
        case ControlKind::kBarrier:
        case ControlKind::kBarrierArrive: {
          const int first = __builtin_ctz(active);
          const auto value = [&](Slot slot) {
            return slot == kNoSlot ? 0u
                                   : lanes<std::uint32_t>(*this, slot)[first];
          };
          const std::uint32_t barrier = value(control.barrier) % 16;
          const std::uint32_t expected = value(control.thread_count);
          Mask contribution = 0;
          if (control.contribution != kNoSlot) {
            contribution = predicate(*this, control.contribution);
            contribution =
                control.contribution_negated ? ~contribution : contribution;
          }
          const auto threads = expected != 0 && active == live
              ? static_cast<std::uint32_t>(kLanes)
              : static_cast<std::uint32_t>(__builtin_popcount(active));
          if (control.kind == ControlKind::kBarrier) {
            splits_[at].state = Split::State::kAtBarrier;
            splits_[at].barrier = barrier;
            splits_[at].active = active;
          } else {
            splits_[at].pc = pc + 1;
          }
          runner_.arrive(
              barrier,
              threads,
              expected,
              control,
              contribution & active,
              active);
          if (splits_[at].state == Split::State::kReady) {
            pc = splits_[at].pc;
          } else {
            stay = false;
          }
          break;
        }
        case ControlKind::kWarpBarrier:
        case ControlKind::kCollective: {
          Flow result = Flow::kNext;
          if (!gather(at, inst, control, active, &result)) {
            stay = false;
            release_gathered();
            if (fault.kind != FaultKind::kNone) {
              return Status::kFault;
            }
            break;
          }
          if (result == Flow::kFault) {
            note_fault(inst, *code);
            return Status::kFault;
          }
          ++pc;
          break;
        }
        case ControlKind::kTrap:
          access_fault(
              *this,
              inst,
              FaultKind::kTrap,
              __builtin_ctz(active),
              0,
              0,
              false);
          note_fault(inst, *code);
          return Status::kFault;
      }
    }
    if (instructions >= limit && !splits_.empty()) {
      return Status::kBudget;
    }
  }
}

} // namespace cudasim::engine
