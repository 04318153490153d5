// The canonical key of an instruction, by which its handler is found.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

/// The opcode, then the modifiers that are no types in alphabetical order, then
/// the types in the order of the text (family.h). `uni` is
/// dropped. For ld, st and the like what only hints at caches is dropped too,
/// and `volatile`, `weak` and `relaxed` with their scopes, because every access
/// here is at least that strong.
std::string canonical_key(const ptx::Instruction& instruction);

/// The same for an opcode with modifiers as text: "setp.lt.and.s32".
std::string canonical_key(const std::string& text);

/// The types in such a text, in its order.
std::vector<ptx::Type> types_in(std::string_view text);

} // namespace cudasim::engine
