// How an instruction accesses memory, as far as checks have to know it.
#pragma once

#include <cstdint>

namespace cudasim::engine {

/// An access to global or shared memory, as the checks of CUDASIM_CHECK=1 see
/// it.
struct MemoryAccess {
  enum class Kind : std::uint8_t { kNone, kRead, kWrite, kReadWrite };
  enum class Space : std::uint8_t { kGeneric, kShared };
  Kind kind = Kind::kNone;
  Space space = Space::kGeneric;
  bool atomic = false; // or volatile, or with an order
  /// What others did before is ordered before what this thread does next: a
  /// fence, an acquire, a wait for an mbarrier.
  bool orders = false;
  std::uint8_t address = 0; // which operand
  std::uint8_t elements = 1; // of a vector
  std::uint32_t size = 0; // bytes that each lane accesses
};

} // namespace cudasim::engine
