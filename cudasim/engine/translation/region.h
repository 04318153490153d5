// Native code of a region of a function, and how the interpreter calls it.
//
// A region begins at one instruction and goes on as far as a warp whose lanes
// are together can be followed without the scheduler: up to calls and returns,
// and to branches at which the lanes part, unless it has both of their sides
// (hammocks.cpp). There is code for all 32 lanes, and other code for lanes that
// have parted from others, or whose others have exited or never were: up to
// where they meet. Wherever a region ends, the
// registers that are still needed are in the warp's frame, and how the lanes
// have parted is told, so that the interpreter goes on at any instruction.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cudasim/engine/state/block.h"
#include "cudasim/engine/state/warp.h"

namespace cudasim::engine {

/// Which lanes of a warp native code is for.
enum class WarpLanes : std::uint8_t {
  kAll, // 32
  kRest, // the others wait for these, have exited or never were
  /// The others execute something else, and take turns. Whether lanes have met
  /// in between makes a difference to the order, so there are no hammocks.
  kSome,
};

/// Lanes that parted at a branch and have not met again where native code ends.
struct PartedLanes {
  std::uint32_t branch;
  Mask taken; // of the lanes that executed it, those that took it
  /// Whether the code ends for the others, while these have come to the join.
  std::uint32_t is_second;
  std::uint32_t unused;
  std::uint64_t since; // instructions of the warp when the first came there
};

/// What native code knows of the warp that it runs. The code has the offsets of
/// these in it (Translator).
struct RegionState {
  Warp* warp = nullptr;
  // Not beside each other: native code writes them one by one, and whoever
  // reads both at once would have to wait.
  std::uint64_t instructions = 0; // of the warp; counted on
  std::uint64_t limit = 0; // of them, looked at where a branch is back
  std::uint64_t thread_instructions = 0; // counted on, too
  std::uint64_t shared = 0; // address of the block's shared memory
  std::uint64_t shared_bytes = 0;
  std::uint64_t parameters = 0;
  std::uint64_t parameter_bytes = 0;
  const RangeCache* ranges = nullptr;
  Mask mask = kAllLanes; // lanes that execute
  std::uint64_t loads_only = 0; // end before the next of Code::first_stores
  const void* const* table = nullptr; // NativeRegion::table
  /// Where the region goes on, a number of its own. 0: it begins.
  std::uint64_t resume = 0;
  /// How many of `parted` there are where the code has ended, from the branch
  /// at which all lanes were together on. The lanes for which it ended are at
  /// the instruction where the interpreter goes on.
  std::uint64_t levels = 0;
  static constexpr int kMostLevels = 8;
  PartedLanes parted[kMostLevels];

  void set_block(const Block& block, const RangeCache& touched) {
    shared = reinterpret_cast<std::uint64_t>(block.shared);
    shared_bytes = block.shared_bytes;
    parameters = reinterpret_cast<std::uint64_t>(block.parameters);
    parameter_bytes = block.parameter_bytes;
    ranges = &touched;
  }
};

/// Why native code ends, in the upper half of what it returns; the lower half
/// is the instruction at which the interpreter goes on.
enum class RegionEnd : std::uint32_t {
  kGoesOn,
  kLimit, // a branch back, and RegionState::limit is reached
  kFault, // the instruction faulted
  kYield, // the instruction before lets others go first
  kPauses, // it is to be called again, behind a barrier
  kNotEntered, // registers are not as the code assumes; nothing was executed
};

/// Why native code ended, from what it returned.
inline RegionEnd end_of(std::uint64_t result) {
  return static_cast<RegionEnd>(result >> 32);
}

/// @param registers of the warp's frame.
using RegionFunction =
    std::uint64_t (*)(RegionState* state, std::byte* registers);

/// Machine code, and the addresses of this process that it uses: it has none in
/// it, so that other processes can use the same.
struct NativeRegion {
  RegionFunction function = nullptr;
  /// It ends there: where its lanes meet others. kNowhere: no such place.
  std::uint32_t stop = kNowhere;
  std::vector<const void*> table;
  /// Processor time that an instruction of a warp saves, about.
  std::uint64_t nanoseconds_saved = 0;
  /// The same region for registers that this code refuses; null where there is
  /// none. It comes later.
  mutable std::atomic<const NativeRegion*> otherwise{nullptr};
};

/// Executes a region, or the same for registers that its code refuses.
/// @param region becomes the one that was executed. @param stop where lanes
/// meet others. @returns as RegionFunction.
inline std::uint64_t call_region(
    const NativeRegion** region,
    std::uint32_t stop,
    RegionState* state,
    std::byte* registers) {
  state->levels = 0;
  state->table = (*region)->table.data();
  const std::uint64_t result = (*region)->function(state, registers);
  if (end_of(result) != RegionEnd::kNotEntered) {
    return result;
  }
  const NativeRegion* const other =
      (*region)->otherwise.load(std::memory_order_acquire);
  if (other == nullptr || other->stop != stop) {
    return result;
  }
  *region = other;
  state->table = other->table.data();
  return other->function(state, registers);
}

} // namespace cudasim::engine
