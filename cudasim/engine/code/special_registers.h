// What special registers are worth, by the names that PTX gives them
// (ptx/special_registers.h has their types). Source: PTX ISA 10. Those that
// stay the same while a block runs get their values when a frame is made:
// warp/place.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "cudasim/engine/state/instruction.h"

namespace cudasim::engine {

/// Registers that are filled when a frame is made (special registers that do
/// not change while a block runs, and the base of local variables).
enum class Special : std::uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneId,
  kWarpId,
  kNwarpId,
  kSmId,
  kNsmId,
  kGridId,
  kLanemaskEq,
  kLanemaskLe,
  kLanemaskLt,
  kLanemaskGe,
  kLanemaskGt,
  kDynamicSharedSize,
  kTotalSharedSize,
  kReservedSharedBegin, // offsets of what devices keep for themselves
  kReservedSharedMiddle,
  kReservedSharedEnd,
  kReservedSharedSize,
  kZero, // such as the rank in a cluster of one block
  kOne,
  kGridWorkspaceHigh, // %envreg1 and 2: what cooperative groups share
  kGridWorkspaceLow,
  kLocalFrame, // first byte of this frame within the lane's local memory
};

struct SpecialRegister {
  Special special;
  Slot slot;
  std::uint8_t width; // bytes
};

/// The special register of a name such as "%tid.x" that does not change while a
/// block runs; false when there is none.
bool find_special(std::string_view name, Special* special);

/// A handler that moves a special register that changes, such as %clock64, into
/// operand 0; null when the name is not one of those.
Handler changing_register(std::string_view name);

/// Whether this engine has a special register, be it of either kind.
bool has_special_register(std::string_view name);

/// Shared memory of a block that devices keep for themselves, in bytes. Here it
/// lies behind that of the program, and only kernels that ask for it have it:
/// cooperative groups, for tiles of more than a warp.
inline constexpr std::uint32_t kReservedShared = 1024;

/// Whether threads of a block can have different values in a register.
bool tells_threads_apart(Special special);

/// Whether a register is an offset in the reserved shared memory.
bool is_in_reserved_shared(Special special);

} // namespace cudasim::engine
