// The names of PTX's instructions. Source: PTX ISA 8.4, 4.3.2, table 2.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

/// Whether PTX has an instruction of this name.
bool is_opcode(std::string_view name);

/// Whether the families have each form of the instruction with these types and
/// modifiers that ptxas takes, so that one without a row is none.
bool has_all_forms(
    const ptx::Instruction& instruction,
    const std::vector<ptx::Type>& types);

/// What belongs in the place of modifiers that no row has, because they say
/// nothing of the result here: orders, scopes, caches, .uni. Empty: they fit.
std::string modifier_misfit(const ptx::Instruction& instruction);

} // namespace cudasim::engine
