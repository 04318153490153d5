// A lane at an instruction that reads or writes a texture or surface.
#pragma once

#include <cstdint>
#include <memory>

#include "cudasim/engine/memory/texture.h"
#include "cudasim/engine/state/instruction.h"
#include "cudasim/engine/state/warp.h"

namespace cudasim::engine {

/// What such an instruction needs of the warp, one lane after the other. The
/// first fault stays in the warp, and ends the instruction.
class ObjectLane {
 public:
  ObjectLane(Warp& warp, const Inst& inst) : warp_(warp), inst_(inst) {}

  /// The lane that the functions below are about.
  void set_lane(int lane) {
    lane_ = lane;
  }

  /// The texture or surface of a handle; null, and a fault, when the device has
  /// none, or no longer.
  const Texture* find(std::uint64_t handle);

  /// The memory of [address, address + size) where the lane may read or write
  /// it; null, and a fault, where not.
  std::byte* memory_at(
      std::uint64_t address,
      std::uint32_t size,
      bool is_write);

  /// Notes a fault. @param why static text.
  void fail(FaultKind kind, const char* why);
  /// Notes that an access is not aligned to its size.
  void fail_alignment(std::uint64_t address, std::uint32_t size, bool is_write);

  bool failed() const {
    return failed_;
  }

 private:
  void note(
      FaultKind kind,
      std::uint64_t address,
      std::uint32_t size,
      bool is_write,
      const char* why);

  Warp& warp_;
  const Inst& inst_;
  int lane_ = 0;
  bool failed_ = false;
  std::uint64_t handle_ = 0; // of `texture_`, which the lanes share mostly
  std::shared_ptr<const Texture> texture_;
};

/// Where an operand's 32 values are; kNoSlot where it is not there.
inline Slot object_operand(const Inst& inst, std::uint32_t index) {
  if (inst.more != nullptr) {
    return index < inst.more_count ? inst.more[index] : kNoSlot;
  }
  return index < kOperands ? inst.operands[index] : kNoSlot;
}

} // namespace cudasim::engine
