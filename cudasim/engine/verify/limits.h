// How much a kernel may have. Source: CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability"; PTX ISA 5.1.6.
#pragma once

#include <cstdint>

namespace cudasim::engine {

/// Bytes of local memory of a thread.
inline constexpr std::uint64_t kMostLocal = 512 << 10;
/// Bytes of shared memory that a kernel declares itself.
inline constexpr std::uint64_t kMostStaticShared = 48 << 10;
/// Bytes of a kernel's parameters.
inline constexpr std::uint64_t kMostParameters = 32764;
/// Bytes of a module's .const variables.
inline constexpr std::uint64_t kMostConstant = 64 << 10;

} // namespace cudasim::engine
