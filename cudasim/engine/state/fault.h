// What can go wrong in a warp. Plain data: see instruction.h.
#pragma once

#include <cstdint>

namespace cudasim::engine {

enum class FaultKind : std::uint8_t {
  kNone,
  kIllegalAddress,
  kMisalignedAddress,
  kAssert, // device-side assert triggered
  kTrap,
  kIllegalInstruction,
  kUnsupported, // an instruction or call that the simulator does not have
  kLaunchTimeout, // watchdog
  kStackOverflow,
};

/// The first thing that went wrong in a warp.
struct Fault {
  FaultKind kind = FaultKind::kNone;
  std::uint8_t lane = 0;
  bool is_write = false;
  std::uint32_t size = 0; // of the access, bytes
  std::uint64_t address = 0;
  std::uint32_t line = 0;
  /// Static text or text owned by the block; may be null.
  const char* detail = nullptr;
};

} // namespace cudasim::engine
