// Which memory a warp may touch. Plain data and functions that are compiled
// once: see state/instruction.h.
#pragma once

#include <cstdint>

#include "cudasim/engine/state/block.h"
#include "cudasim/engine/state/warp.h"

namespace cudasim::engine {

/// The ranges of device memory that a warp touched last, most recent first.
/// Whoever runs the warp clears it when the AddressSpace's generation changes;
/// what frees such memory waits for the kernels that may use it.
struct RangeCache {
  static constexpr int kEntries = 4;
  std::uint64_t begin[kEntries] = {1, 1, 1, 1};
  std::uint64_t end[kEntries] = {0, 0, 0, 0};
  bool read_only[kEntries] = {};
  /// The piece of the device's heap that was touched last. Any warp of any
  /// kernel may free it at any time, so it counts only while `heap_generation`
  /// is the heap's, and is not among the entries above.
  std::uint64_t heap_begin = 1;
  std::uint64_t heap_end = 0;
  std::uint64_t heap_generation = 0;
};

/// Whether [low, high) is in an allocation that the warp touched lately; never
/// where high is behind the last address, which wraps around.
/// @param entry of the cache.
[[gnu::always_inline]] inline bool is_cached(
    const RangeCache& cache,
    int entry,
    std::uint64_t low,
    std::uint64_t high,
    bool is_write) {
  return low >= cache.begin[entry] && high <= cache.end[entry] && low < high &&
      !(is_write && cache.read_only[entry]);
}
/// The same of any entry.
[[gnu::always_inline]] inline bool is_cached(
    const RangeCache& cache,
    std::uint64_t low,
    std::uint64_t high,
    bool is_write) {
  for (int i = 0; i < RangeCache::kEntries; ++i) {
    if (is_cached(cache, i, low, high, is_write)) {
      return true;
    }
  }
  return false;
}

/// Forgets everything: allocations have changed.
void clear(RangeCache& cache);

/// Whether [begin, end) is in one allocation that may be read, or written when
/// `is_write`. Puts the allocation at the front of the warp's cache.
bool find_range(
    Warp& warp,
    std::uint64_t begin,
    std::uint64_t end,
    bool is_write);

/// Whether a lane may read [address, address + size) through a generic address:
/// the device's memory, the block's shared memory, its own local memory, or the
/// kernel's parameters.
bool is_readable(
    Warp& warp,
    int lane,
    std::uint64_t address,
    std::uint64_t size);

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
