// The table of all handlers, by key, for each set of machine instructions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cudasim/engine/instructions/family.h"
#include "cudasim/engine/instructions/shape.h"

namespace cudasim::engine {

enum class Isa : unsigned char { kBaseline, kV3, kV4 };

/// The widest set that this machine has; CUDASIM_ISA=baseline|v3|v4 in the
/// environment asks for a narrower one.
Isa best_isa();

/// One instruction, as far as its operands go.
struct Row {
  const Entry* entry;
  Shape shape;
};

/// The rows for a canonical key (key.h); null when no family has it.
const std::vector<Row>* find_rows(Isa isa, const std::string& key);

/// Of which forms of an opcode the families have all that there are.
enum class Forms : unsigned char {
  kNone, // there is no row
  kSome,
  kIntegers, // of those whose types are all integers or bits
  kOlder, // of those that older devices have too
  kAll,
};

/// What the families have of an opcode.
Forms forms_of(std::string_view opcode);

/// All entries of all families, for the tables in
/// docs/coverage/cudasim.md.
/// @param visit called for each with the name of its family.
void for_each_entry(void (*visit)(const char* family, const Entry& entry));

} // namespace cudasim::engine
