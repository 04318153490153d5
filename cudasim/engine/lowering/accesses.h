// What the checks of CUDASIM_CHECK=1 have to know of an instruction.
#pragma once

#include "cudasim/engine/code/code.h"
#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

/// How an instruction accesses global or shared memory; kNone where it does
/// not.
MemoryAccess access_of(const ptx::Instruction& instruction);

} // namespace cudasim::engine
