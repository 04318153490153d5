// Verifies calls: that what is called is a function, and that what is passed is
// what it takes. Source: PTX ISA 9.7.11.5 (call), 7 (abstracting the ABI).
#pragma once

#include "cudasim/engine/verify/names.h"
#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

/// @throws ptx::ParseError
void verify_call(
    const ptx::Module& module,
    const Names& names,
    const ptx::Instruction& instruction);

} // namespace cudasim::engine
