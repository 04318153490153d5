// The table of all handlers, by key, for each set of machine instructions.
#pragma once

#include "cudasim/engine/instructions/family.h"

namespace cudasim::engine {

enum class Isa : unsigned char { kBaseline, kV3, kV4 };

/// The widest set that this machine has; CUDASIM_ISA=baseline|v3|v4 in the
/// environment asks for a narrower one.
Isa best_isa();

/// The entry for a key, or null when no family has it.
const Entry* find_entry(Isa isa, const char* key);

/// All entries of all families, for the tables in
/// docs/cudasim-coverage.md.
/// @param visit called for each with the name of its family.
void for_each_entry(void (*visit)(const char* family, const Entry& entry));

} // namespace cudasim::engine
