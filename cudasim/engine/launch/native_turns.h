// The turns of a block's warps while they are nothing but calls of native code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cudasim/engine/code/special_registers.h"
#include "cudasim/engine/translation/region.h"
#include "cudasim/engine/warp/enclosing_block.h"
#include "cudasim/engine/warp/warp_runner.h"

namespace cudasim::engine {

/// Nearly all warps execute native code from the beginning of a kernel to its
/// end, or to a barrier of all threads, with all of their lanes together. This
/// runs them in the order in which BlockRunner would, without what a warp needs
/// where its lanes part. A warp that does anything else runs by itself, and
/// unless it exits so, all of them are left to BlockRunner, as if it had run
/// them.
class NativeTurns {
 public:
  using Warps = std::vector<std::unique_ptr<WarpRunner>>;

  /// Neither has to be complete.
  /// @param awaited barriers of the block at which threads wait, a bit each.
  NativeTurns(
      EnclosingBlock& block,
      const Warps& warps,
      const std::uint32_t& awaited);

  /// @param all_full whether all warps have 32 lanes.
  /// @returns whether the warps of a block can begin here.
  bool can_begin(bool all_full) const;

  /// What is left to BlockRunner.
  struct Rest {
    std::size_t next = 0; // whose turn it is
    std::uint64_t left = 0; // instructions, of its turn
    std::uint64_t slice = 0; // the same of the turns that follow
    /// How its turn ended, if it has.
    std::optional<WarpRunner::Status> status;
    bool is_over = false; // the block's turn, as its budget is spent
    std::uint64_t spent = 0; // instructions, of the block's turn
    bool is_first = false; // no other warp of the round did anything
  };
  /// Runs warps that are at the beginning of the kernel; start() has been
  /// called for each of them, be it for an earlier block.
  /// @param slice instructions of a warp's first turn. @param most the same of
  /// later ones. @param budget of instructions of all, likewise.
  /// @returns nothing where all have exited.
  std::optional<Rest> run(
      std::uint64_t slice,
      std::uint64_t most,
      std::uint64_t budget);

 private:
  enum class State : std::uint8_t {
    kBegins,
    kGoesOn,
    kAtBarrier,
    kExited,
    kLeft, // its WarpRunner has it
  };
  struct Turn {
    State state = State::kBegins;
    bool loads_only = false; // RegionState's
    std::uint32_t pc = 0; // where it waits or goes on
    // None: a region begins there.
    std::optional<WarpRunner::Paused> paused;
  };
  enum class Outcome : std::uint8_t {
    kGoesOn, // in other native code
    kExits,
    kWaits,
    kStops, // others are to come as far first, as Code::first_stores says
    kLeaves, // before a call
    kLeavesCall, // whose end nobody has looked at
  };

  std::optional<Rest> take_turn(std::size_t number, std::uint64_t slice);
  std::optional<Rest> run_by_itself(std::size_t number, Rest rest);
  Outcome call(std::size_t number, std::uint64_t limit);
  bool prepare(const Turn& turn, std::byte* registers);
  Outcome outcome_of_call(WarpRunner& warp, std::uint64_t limit);
  void end_turn(Turn& turn, Outcome outcome);
  const NativeRegion* region_at(std::uint32_t pc) const;
  void count(std::uint64_t executed);
  void tell_regions();
  bool is_exit(std::uint32_t pc);
  bool is_plain_barrier(WarpRunner& warp, std::uint32_t pc);
  bool is_first_store(std::uint32_t pc) const;
  bool is_alone() const;
  void open_barrier();
  void leave_exits();
  void leave(std::size_t number);
  void leave_all();

  EnclosingBlock& block_;
  const Warps& warps_;
  const std::uint32_t& awaited_;
  const Code* code_ = nullptr;
  const NativeRegion* first_ = nullptr; // of the beginning
  std::vector<Turn> turns_;
  std::size_t live_ = 0; // warps that have not exited
  std::size_t waiting_ = 0; // at the barrier
  std::uint32_t exited_ = 0; // warps, of which the block does not know
  /// Registers that differ between blocks, and their values in this one.
  std::vector<std::pair<const SpecialRegister*, std::uint64_t>> specials_;
  WarpRunner::Ran ran_; // the last call
  std::uint64_t calls_ = 0; // of the code of the beginning
  std::uint64_t executed_ = 0; // by them
  // Instructions that were looked at: where warps exit, and where they wait.
  std::uint32_t exit_ = kNowhere;
  std::uint32_t barrier_ = kNowhere;
};

} // namespace cudasim::engine
