// In builds with the address sanitizer each register has a place of its own
// with a gap behind it, so that an instruction that reads or writes beyond its
// operands is seen.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace cudasim::engine {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kWatchRegisters = true;
#else
inline constexpr bool kWatchRegisters = false;
#endif

/// Bytes behind a register that belong to none.
inline constexpr std::uint32_t kRegisterGap = kWatchRegisters ? 256 : 0;

/// Whether memory may be accessed. Without the sanitizer these do nothing.
inline void forbid(const void* memory, std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __asan_poison_memory_region(memory, bytes);
#else
  (void)memory;
  (void)bytes;
#endif
}
inline void allow(const void* memory, std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(memory, bytes);
#else
  (void)memory;
  (void)bytes;
#endif
}

} // namespace cudasim::engine
