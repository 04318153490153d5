// Numbers and constant expressions. Source: PTX ISA 8.4, 4.5.
#pragma once

#include <cstdint>

#include "cudasim/ptx/ast.h"
#include "runtime/code/ptx/reader.h"

namespace cudasim::ptx {

/// What a constant expression is worth.
struct Constant {
  bool is_float = false;
  /// A literal 0f…, kept bit by bit in `bits`.
  bool is_single = false;
  bool is_unsigned = false; // .u64 rather than .s64
  std::uint64_t bits = 0; // integer, or the bits of a double or a single
};

/// The worth of a number token. @throws ParseError when it is no number of PTX.
Constant number(const Reader& reader, const Token& token);

/// Reads a constant expression with C's operators and precedences, and the
/// values that ptxas gives them.
/// @throws ParseError
Constant constant_expression(Reader& reader);

/// Whether the current token can begin a constant expression.
bool begins_constant(const Reader& reader);

/// A constant as an operand.
Operand operand_of(const Constant& constant, Location location);

} // namespace cudasim::ptx
