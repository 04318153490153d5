// Declarations: variables, parameters, registers.
// Source: PTX ISA 8.4, 5.1 (state spaces), 5.4 (variables), 7.1 (parameters).
#pragma once

#include <string_view>
#include <vector>

#include "cudasim/ptx/ast.h"
#include "runtime/code/ptx/reader.h"

namespace cudasim::ptx {

/// The state space that a directive such as ".global" names; kNone otherwise.
Space space_named(std::string_view directive);

/// Reads what follows a state space up to and with the ";", such as
/// ".align 4 .b8 table[16] = {…}, other[2];".
/// @param like gives linkage (is_extern and the like) and the space.
/// @throws ParseError
std::vector<Variable> parse_variables(Reader& reader, const Variable& like);

/// What has parameters.
enum class Owner { kEntry, kFunction, kPrototype };

/// Reads a list of parameters in parentheses.
/// @throws ParseError
std::vector<Variable> parse_parameters(Reader& reader, Owner owner);

/// Reads what follows ".reg" up to and with the ";".
/// @throws ParseError
std::vector<RegisterDeclaration> parse_registers(Reader& reader);

/// Passes over "(…)" of .attribute. @return whether .managed is among them.
bool parse_attributes(Reader& reader);

} // namespace cudasim::ptx
