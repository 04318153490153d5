// How instruction families hand their handlers to the lowering.
//
// A family is one .cpp file in this folder, compiled three times: for the
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
// "vote.ballot.sync.b32" (canonical_key, engine/key.h).
//
// setp, shfl, match and elect always have two destinations, the second of which
// can be kNoSlot.
#pragma once

#include <cstddef>

#include "cudasim/engine/warp.h"

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

enum class Isa : unsigned char { kBaseline, kV3, kV4 };

/// The widest set that this machine has; CUDASIM_ISA=baseline|v3|v4 in the
/// environment asks for a narrower one.
Isa best_isa();

/// The entry for a key, or null when no family has it.
const Entry* find_entry(Isa isa, const char* key);

/// All entries of all families, for the table in docs/cudasim.md.
/// @param visit called for each with the name of its family.
void for_each_entry(void (*visit)(const char* family, const Entry& entry));

} // namespace cudasim::engine
