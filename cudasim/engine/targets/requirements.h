// Which targets and which version of PTX an instruction needs. Not a part of
// the rows: much of it hangs on modifiers that no row has, because they say
// nothing about the result here (instructions/key.h), and on instructions
// without a row.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cudasim/engine/targets/target.h"
#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

/// What some form of an instruction needs.
struct Requirement {
  /// Opcodes, then modifiers: "add|sub bf16|bf16x2 !rn" are add and sub with
  /// one of the types and without .rn. A word that ends in "*" stands for all
  /// that begin like it, "f16$" for that as the last, "#4" for four operands,
  /// "#pair" for a predicate beside the result. A special register is an
  /// opcode, with its "%".
  std::string_view form;
  /// The targets that have it, each "90" for sm_90 and all behind it, "100f"
  /// for sm_100f and sm_100a, "100a" for that alone, "60-86" for those between
  /// and these; empty: all.
  std::string_view targets;
  PtxVersion version; // the first that has it; {}: any
};

/// Those of an instruction, in the order of the table.
std::vector<const Requirement*> requirements_of(
    const ptx::Instruction& instruction);
/// Those of a special register.
std::vector<const Requirement*> requirements_of(std::string_view name);

/// Whether a target has what a requirement is about.
bool has(const Target& target, const Requirement& requirement);

/// Its targets, for messages: "sm_90 or higher".
std::string targets_text(const Requirement& requirement);

} // namespace cudasim::engine
