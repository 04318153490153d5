#include "cudasim/engine/launch/queued_copy.h"

#include <cstring>

#include "cudasim/engine/launch/report.h"

namespace cudasim::engine {
namespace {

/// Whether `bytes` from an address are in one allocation.
bool is_there(
    const AddressSpace& memory,
    std::uint64_t address,
    std::uint64_t bytes,
    bool is_write) {
  Range range;
  const bool found =
      memory.find(address, &range) || memory.heap().find(address, &range);
  return found && bytes <= range.end - address &&
      !(is_write && range.read_only);
}

} // namespace

CopyOutcome run_copy(const QueuedCopy& copy, const AddressSpace* memory) {
  for (std::uint64_t row = 0; row < copy.height; ++row) {
    const std::uint64_t to = copy.to + row * copy.to_pitch;
    const std::uint64_t from = copy.from + row * copy.from_pitch;
    for (const bool is_write : {false, true}) {
      const std::uint64_t address = is_write ? to : from;
      if ((is_write || copy.from != 0) &&
          (memory == nullptr ||
           !is_there(*memory, address, copy.width, is_write))) {
        return {
            FaultKind::kIllegalAddress,
            copy_report(copy, address, is_write, memory)};
      }
    }
    if (copy.from == 0) {
      std::memset(reinterpret_cast<void*>(to), copy.value, copy.width);
    } else {
      std::memmove(
          reinterpret_cast<void*>(to),
          reinterpret_cast<const void*>(from),
          copy.width);
    }
  }
  return {};
}

} // namespace cudasim::engine
