// Gives registers places in a warp's frame: two that are never live at the same
// time can have the same one, so that a frame stays small enough for the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cudasim/engine/lowering/control_flow_graph.h"
#include "cudasim/engine/state/warp.h"

namespace cudasim::engine {

/// A register of a function before it has a place.
struct VirtualRegister {
  /// Bytes for one warp: 4 for a predicate, 64, 128, 256 or 512 otherwise.
  std::uint32_t bytes = 0;
  /// Keeps its place during the whole function (filled from outside).
  bool permanent = false;
};

/// Which registers an instruction reads and writes.
struct Access {
  std::vector<std::uint32_t> reads;
  std::vector<std::uint32_t> writes;
  /// Whether it runs for some of the lanes only, so that what was in the
  /// written registers may survive.
  bool guarded = false;
};

struct Allocation {
  std::vector<Slot> slots; // of each virtual register
  std::size_t frame_bytes = 0;
};

/// Linear scan over intervals that cover all of a register's live range.
Allocation allocate_registers(
    const std::vector<VirtualRegister>& registers,
    const std::vector<Access>& accesses,
    const ControlFlowGraph& graph);

} // namespace cudasim::engine
