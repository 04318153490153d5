// The state of one warp as instruction handlers see it. Plain data: see
// instruction.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cudasim/engine/state/fault.h"
#include "cudasim/engine/state/instruction.h"

namespace cudasim::engine {

struct Block; // state/block.h: shared memory, parameters, index
struct RangeCache; // memory/access.h

/// What handlers know about a warp. How its lanes part and meet is in the class
/// that derives from it (warp/warp_runner.h).
struct Warp {
  /// [0]: registers of the current function, [1]: its constants.
  std::byte* bases[2] = {nullptr, nullptr};
  Block* block = nullptr;
  /// Lanes that exist and have not exited.
  Mask live = 0;
  std::uint32_t index = 0; // in its block
  /// Local memory: lane i has local_size bytes at local_base + i * local_size.
  std::byte* local_base = nullptr;
  std::uint64_t local_size = 0;
  /// First byte of the current function's local variables within a lane's.
  std::uint64_t local_frame = 0;
  /// The end of those variables. What alloca gives lies above it, from the end
  /// of a lane's memory downwards; `stack_top` is where that begins.
  std::uint64_t local_end = 0;
  std::uint64_t stack_top[kLanes] = {};
  RangeCache* ranges = nullptr;
  Fault fault;
  /// Carry flag of each lane for add.cc, addc and the like.
  Mask carry = 0;
};

/// The 32 values behind an operand.
template <typename T>
[[gnu::always_inline]] inline T* lanes(Warp& warp, Slot slot) {
  return reinterpret_cast<T*>(warp.bases[slot >> 31] + (slot & ~kConstantBit));
}

/// The Mask behind a predicate operand.
[[gnu::always_inline]] inline Mask& predicate(Warp& warp, Slot slot) {
  return *lanes<Mask>(warp, slot);
}

} // namespace cudasim::engine
