// What the checks of CUDASIM_CHECK=1 have to know of an instruction.
#pragma once

#include <cstdint>
#include <vector>

#include "cudasim/engine/code/memory_access.h"
#include "cudasim/engine/instructions/shape.h"
#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

/// Where an operand is after lowering.
struct LoweredOperand {
  std::uint8_t first = 0; // index among the operands of the Inst
  std::uint8_t width = 0; // bytes of its register; 0: an address without one
  std::int64_t offset = 0; // of an address
};

/// How an instruction accesses global or shared memory, by its row; empty where
/// it does not.
/// @param operands one for each operand of the instruction.
std::vector<MemoryAccess> accesses_of(
    const ptx::Instruction& instruction,
    const Shape& shape,
    const std::vector<LoweredOperand>& operands);

/// Whether what others did before comes before what the thread does next.
bool orders(const ptx::Instruction& instruction, const Shape& shape);

} // namespace cudasim::engine
