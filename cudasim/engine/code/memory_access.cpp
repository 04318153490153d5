#include "cudasim/engine/code/memory_access.h"

#include <cstddef>

namespace cudasim::engine {

Slot operand_of(const Inst& inst, std::size_t index) {
  return inst.more != nullptr ? inst.more[index] : inst.operands[index];
}

std::uint64_t address_of(
    Warp& warp,
    const Inst& inst,
    const MemoryAccess& access,
    int lane) {
  const auto offset = static_cast<std::uint64_t>(access.offset);
  if (access.address_width == 0) {
    return offset;
  }
  const Slot slot = operand_of(inst, access.address);
  if (access.address_width == 8) {
    return lanes<std::uint64_t>(warp, slot)[lane] + offset;
  }
  const std::uint64_t sum = lanes<std::uint32_t>(warp, slot)[lane] + offset;
  return access.space == MemoryAccess::Space::kShared
      ? static_cast<std::uint32_t>(sum)
      : sum;
}

} // namespace cudasim::engine
