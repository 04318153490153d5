// Forms of PTX that stand for several others: what comes after reads these
// others only.
#pragma once

#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

/// Reads the body of a function, as ptx::parse_body does, and puts other forms
/// in the place of
///
/// - elements of arrays as operands: an address, computed before where the
///   index is a register;
/// - registers of vectors (.reg .v4): a register for each component;
/// - mov of vectors: one mov for each component;
/// - parameters in registers, and registers and numbers that a call passes:
///   .param variables, with a load or a store for each.
///
/// Not thread-safe.
/// @throws ptx::ParseError
void read_body(const ptx::Module& module, ptx::Function& function);

} // namespace cudasim::engine
