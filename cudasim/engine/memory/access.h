// Which memory a warp may touch. Plain data and functions that are compiled
// once: see state/instruction.h.
#pragma once

#include <cstdint>

#include "cudasim/engine/state/block.h"
#include "cudasim/engine/state/warp.h"

namespace cudasim::engine {

/// The ranges of device memory that a warp touched last, most recent first.
struct RangeCache {
  static constexpr int kEntries = 4;
  std::uint64_t begin[kEntries] = {1, 1, 1, 1};
  std::uint64_t end[kEntries] = {0, 0, 0, 0};
  bool read_only[kEntries] = {};
};

/// Forgets everything: allocations have changed.
void clear(RangeCache& cache);

/// Whether [begin, end) is in one allocation that may be read, or written when
/// `is_write`. Puts the allocation at the front of the warp's cache.
bool find_range(
    Warp& warp,
    std::uint64_t begin,
    std::uint64_t end,
    bool is_write);

/// Whether an address is in a .const variable.
bool is_constant(Warp& warp, std::uint64_t address);

/// Notes a fault of one lane; returns Flow::kFault.
Flow access_fault(
    Warp& warp,
    const Inst& inst,
    FaultKind kind,
    int lane,
    std::uint64_t address,
    std::uint32_t size,
    bool is_write);

} // namespace cudasim::engine
