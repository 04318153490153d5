// How an instruction accesses memory, as far as checks have to know it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cudasim/engine/state/instruction.h"
#include "cudasim/engine/state/warp.h"

namespace cudasim::engine {

/// An access to global or shared memory, as the checks of CUDASIM_CHECK=1 see
/// it.
struct MemoryAccess {
  enum class Kind : std::uint8_t { kRead, kWrite, kReadWrite };
  enum class Space : std::uint8_t { kGeneric, kShared };
  Kind kind = Kind::kRead;
  Space space = Space::kGeneric;
  bool atomic = false; // or volatile, or with an order
  bool warp_wide = false; // by all lanes; which accesses what is not told
  /// Which operand has the address, and the bytes of its register; 0 where the
  /// address is a constant.
  std::uint8_t address = 0;
  std::uint8_t address_width = 0;
  /// Of the values that are written: their number, and which operand is the
  /// first; 0: what is written is not known.
  std::uint8_t elements = 0;
  std::uint8_t first_element = 0;
  /// Lanes that give an address.
  Mask lanes = kAllLanes;
  std::int64_t offset = 0; // of the address
  std::uint32_t size = 0; // bytes that each lane accesses, or of each line
  /// 0, or so many lines for the warp as a whole, at the address of one lane.
  std::uint32_t lines = 0;
  /// How far apart they are: a constant, or values of `unit` bytes as many as
  /// the operand says, where that is not 0.
  std::uint8_t distance_operand = 0;
  std::uint32_t unit = 0;
  std::uint32_t parts = 1; // of a value, which the operand counts
};

/// Where an operand's register is: instructions of many have a list.
Slot operand_of(const Inst& inst, std::size_t index);

/// Where a lane is about to access memory.
std::uint64_t address_of(
    Warp& warp,
    const Inst& inst,
    const MemoryAccess& access,
    int lane);

} // namespace cudasim::engine
