// Operands of instructions and initial values of variables.
// Source: PTX ISA 8.4, chapter 6 (operands), 5.4.4 (initialisers).
#pragma once

#include <vector>

#include "cudasim/ptx/ast.h"
#include "runtime/code/ptx/reader.h"

namespace cudasim::ptx {

/// Reads one operand: a register, constant, symbol, address, vector or pair.
/// @throws ParseError
Operand parse_operand(Reader& reader);

/// Reads operands with commas between them, at least one.
std::vector<Operand> parse_operands(Reader& reader);

/// Reads one initial value: a constant expression, or the address of a symbol
/// in one of the forms sym, generic(sym), 0xFF00(sym), each with "+ offset".
/// @throws ParseError
Operand parse_initial_value(Reader& reader);

} // namespace cudasim::ptx
