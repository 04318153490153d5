// What is said of PTX that is refused.
#pragma once

#include <string>
#include <string_view>

#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

/// Raises a ParseError "SOURCE:LINE:COLUMN: found 'WHAT', expected …".
[[noreturn]] void refuse(
    const ptx::Module& module,
    ptx::Location location,
    std::string_view found,
    const std::string& expected);

/// An operand as in the text, as far as the tree has it.
std::string text_of(const ptx::Operand& operand);

} // namespace cudasim::engine
