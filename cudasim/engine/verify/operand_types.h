// Which registers and constants can stand where an instruction has a type.
// Source: PTX ISA 9.2 (type information), tables 24 to 26; what it leaves open
// is as ptxas has it.
#pragma once

#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

/// Whether a type is one of integers or bits.
bool is_integral(ptx::Type type);

/// Whether a type is one of floating-point numbers.
bool is_float(ptx::Type type);

/// Whether a register of one type can be an operand of another.
/// @param relaxed the register may be wider than the operand (ld, st, cvt).
bool register_fits(ptx::Type operand, ptx::Type reg, bool relaxed);

/// Whether a number (Kind::kInteger or kFloat) can be an operand of this type.
bool constant_fits(ptx::Type operand, const ptx::Operand& constant);

} // namespace cudasim::engine
