// How lanes of a warp part and meet again.
//
// A warp is a set of splits: lanes that are at the same instruction. A branch
// that diverges makes two splits with a join, which is where they meet again
// (the branch's immediate post-dominator); lanes that get there first wait.
// Splits take turns, so lanes that spin on other lanes of their own warp get on
// (independent thread scheduling; CUDA programming guide, "SIMT architecture").
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cudasim/engine/code/control.h"
#include "cudasim/engine/state/warp.h"
#include "cudasim/engine/translation/region.h"
#include "cudasim/engine/warp/frame.h"
#include "cudasim/engine/warp/join.h"

namespace cudasim::engine {

/// Lanes of a warp that execute together.
struct Split {
  enum class State : std::uint8_t { kReady, kGathering, kAtBarrier };
  State state = State::kReady;
  std::uint32_t pc = 0;
  Mask mask = 0;
  Frame* frame = nullptr;
  Join* join = nullptr;
  Mask active = 0; // what the waiting instruction is executed for
  Mask members = 0; // kGathering
  std::uint64_t last_turn = 0; // instructions of the warp when it ended
  std::uint32_t barrier = 0; // kAtBarrier
};

/// The splits of a warp.
class Splits {
 public:
  /// @param instructions counts what the warp has executed.
  Splits(Warp& warp, FramePool& frames, const std::uint64_t& instructions)
      : warp_(warp), frames_(frames), instructions_(instructions) {}

  /// All lanes begin a kernel, in one split.
  void start(Frame* entry, Mask lanes);

  bool empty() const {
    return splits_.empty();
  }
  std::size_t size() const {
    return splits_.size();
  }
  Split& operator[](std::size_t at) {
    return splits_[at];
  }
  std::vector<Split>& all() {
    return splits_;
  }
  const std::vector<Split>& all() const {
    return splits_;
  }

  /// The split whose turn it is: the newest that is ready, for it is the one
  /// that others wait for. size() when none is ready.
  std::size_t next() {
    return current_ < splits_.size() &&
            splits_[current_].state == Split::State::kReady
        ? current_
        : next_but_current();
  }
  /// The turn of a split is over: the one that has waited longest is next, so
  /// all others come before this one again.
  void end_turn(std::size_t at);
  /// Splits have gone or come: the newest is next.
  void newest_first();
  /// A split is no more. Those behind it move up, so the last is still the one
  /// whose lanes parted last.
  void remove(std::size_t at);
  /// All lanes have exited.
  void end() {
    splits_.clear();
  }

  /// The active lanes of a split take a branch and the others do not. Where
  /// their ways meet again is a join, unless it is the one that they are on
  /// their way to already.
  /// @returns the split that goes on, which is the last if there is another.
  std::size_t part(std::size_t at, const Control& control, Mask active) {
    return part(at, control, active, instructions_);
  }
  /// What native code says of lanes that parted at a branch, with `at` there.
  /// @returns the split for whose lanes the code ended.
  std::size_t part(std::size_t at, const Code& code, const PartedLanes& lanes);
  /// The active lanes of a split go where `targets` say, by lane, and the
  /// others to the next instruction. The split is replaced by others.
  void part(
      std::size_t at,
      const Control& control,
      const std::uint32_t* targets,
      Mask active);
  /// Only the lanes in `active` go on with the split; they meet the others at
  /// the next instruction. Lanes in `waiting` are there already; what is left
  /// stays in a split of its own.
  void set_apart(std::size_t at, Mask active, Mask waiting);
  /// A split enters a function, whose end is a join.
  void call(std::size_t at, Frame* frame);

  /// Lanes, which are in no split any more, come to a join.
  void arrive(Join* join, Mask mask);
  /// Lanes leave all joins from `join` up to `last` (exclusive).
  void leave(Join* join, const Join* last, Mask mask);
  /// Lanes that wait for a split with this join, or for what it is inside of,
  /// go on by themselves if they have waited longer than `patience`
  /// instructions.
  /// @returns whether any did.
  bool release_late(Join* join, std::uint64_t patience);
  /// The same without patience, for any split.
  /// @param wanted only lanes that wait together with one of these.
  /// @returns whether there were any.
  bool release_any_waiting(Mask wanted = kAllLanes);

  /// Makes the splits that wait at a barrier ready.
  /// @param reduced whether they are given the result of a reduction.
  void release(std::uint32_t barrier, bool reduced, std::uint32_t result);

 private:
  std::size_t next_but_current();
  std::size_t part(
      std::size_t at,
      const Control& control,
      Mask active,
      std::uint64_t since);
  void wait(Join* join, Mask lanes, std::uint64_t since);
  Join* new_join(const Split& split, std::uint32_t pc);
  void go_on(Join* join);
  bool release_waiting(Join* join, Mask wanted);

  Warp& warp_;
  FramePool& frames_;
  const std::uint64_t& instructions_;
  std::vector<Split> splits_;
  std::size_t current_ = 0;
  JoinPool joins_;
};

} // namespace cudasim::engine
