// How shared and local memory are aligned, as programs see it in generic
// addresses: a GPU has both in windows of their own, so that what PTX says of a
// variable holds there, too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "cudasim/engine/code/code.h"

namespace cudasim::engine {

/// What a block's shared memory and a lane's local memory are aligned to at the
/// most, in bytes. Variables that ask for more get no more.
inline constexpr std::uint64_t kMostAlignment = 1024;
/// Where nothing asks for more.
inline constexpr std::uint64_t kLeastFrameAlignment = 16;

/// What a function's local frame has to be aligned to. Its size is a multiple
/// of what its variables ask for (VariablePlaces).
inline std::uint64_t frame_alignment(const Code& code) {
  const std::uint64_t lowest_bit =
      code.local_bytes & (~code.local_bytes + std::uint64_t{1});
  return code.local_bytes == 0
      ? kLeastFrameAlignment
      : std::clamp(lowest_bit, kLeastFrameAlignment, kMostAlignment);
}

/// The first multiple of an alignment that is not below a value.
inline std::uint64_t aligned(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// Makes room for bytes, which are zero, at the most that is asked for.
/// @param owner of the room.
/// @returns where the bytes begin.
inline std::byte* allocate_aligned(
    std::unique_ptr<std::byte[]>& owner,
    std::uint64_t bytes) {
  owner = std::make_unique<std::byte[]>(bytes + kMostAlignment);
  const auto address = reinterpret_cast<std::uint64_t>(owner.get());
  return owner.get() + (aligned(address, kMostAlignment) - address);
}

} // namespace cudasim::engine
