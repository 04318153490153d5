// How instruction families hand their handlers to the registry.
//
// A family is one .cpp file in a folder below, compiled three times: for the
// x86-64 baseline, x86-64-v3 (AVX2, FMA) and x86-64-v4 (AVX-512), with
// CUDASIM_ISA set to baseline, v3 or v4. It defines
//
//   namespace cudasim::engine::CUDASIM_ISA { Family integer_family(); }
//
// and everything else in an unnamed namespace. It includes no header with
// inline functions of its own (no <vector>, <string>, <algorithm>): the linker
// keeps one copy of such a function for the whole library, and that copy could
// have instructions that the machine lacks.
//
// The key of a handler is an opcode with its modifiers. The order of those that
// are no types does not matter: "vote.sync.ballot.b32" is also found as
// "vote.ballot.sync.b32" (canonical_key, key.h).
//
// setp, shfl, match and elect always have two destinations, the second of which
// can be kNoSlot.
#pragma once

#include <cstddef>

#include "cudasim/engine/state/instruction.h"

namespace cudasim::engine {

/// One instruction that a family executes.
struct Entry {
  const char* key;
  Handler handler;
  /// Goes to Inst::immediate unless the lowering has a use for it.
  unsigned long long immediate = 0;
};

/// In Inst::immediate of wmma.load and wmma.store: the address is in a register
/// of 32 bits.
inline constexpr unsigned long long kNarrowAddress = 1ull << 63;

struct Family {
  const char* name;
  const Entry* entries;
  std::size_t count;
};

} // namespace cudasim::engine
