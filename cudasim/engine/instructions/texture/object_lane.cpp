#include "cudasim/engine/instructions/texture/object_lane.h"

#include "cudasim/engine/memory/access.h"
#include "cudasim/engine/memory/address_space.h"
#include "cudasim/engine/state/block.h"

namespace cudasim::engine {

const Texture* ObjectLane::find(std::uint64_t handle) {
  if (texture_ != nullptr && handle == handle_) {
    return texture_.get();
  }
  const auto* memory = static_cast<const AddressSpace*>(warp_.block->memory);
  texture_ = memory == nullptr ? nullptr : memory->textures().find(handle);
  handle_ = handle;
  if (texture_ == nullptr) {
    note(
        FaultKind::kIllegalInstruction,
        handle,
        0,
        false,
        "the device has no texture or surface object of this number, or no "
        "longer");
  }
  return texture_.get();
}

std::byte* ObjectLane::memory_at(
    std::uint64_t address,
    std::uint32_t size,
    bool is_write) {
  if (is_cached(*warp_.ranges, address, address + size, is_write) ||
      find_range(warp_, address, address + size, is_write)) {
    return reinterpret_cast<std::byte*>(address);
  }
  note(FaultKind::kIllegalAddress, address, size, is_write, nullptr);
  return nullptr;
}

void ObjectLane::fail(FaultKind kind, const char* why) {
  note(kind, 0, 0, false, why);
}

void ObjectLane::fail_alignment(
    std::uint64_t address,
    std::uint32_t size,
    bool is_write) {
  note(FaultKind::kMisalignedAddress, address, size, is_write, nullptr);
}

void ObjectLane::note(
    FaultKind kind,
    std::uint64_t address,
    std::uint32_t size,
    bool is_write,
    const char* why) {
  if (!failed_) {
    access_fault(warp_, inst_, kind, lane_, address, size, is_write);
    warp_.fault.detail = why;
    failed_ = true;
  }
}

} // namespace cudasim::engine
