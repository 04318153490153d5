// A block of threads as instruction handlers see it. Plain data: see
// instruction.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudasim::engine {

struct Block {
  const char* kernel_name = "";
  std::uint32_t index[3] = {0, 0, 0};
  std::byte* shared = nullptr;
  std::uint64_t shared_bytes = 0;
  const std::byte* parameters = nullptr;
  std::uint32_t parameter_bytes = 0;
  /// The device's memory, an AddressSpace (memory/address_space.h).
  void* memory = nullptr;
  /// What the blocks of a cooperative launch share; no bytes in others.
  std::uint64_t workspace = 0;
  std::uint64_t workspace_bytes = 0;
};

} // namespace cudasim::engine
