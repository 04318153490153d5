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

/// Whether it is one of .b8 to .b128.
bool is_bits(ptx::Type type);

/// The values in braces so far.
class VectorValues {
 public:
  /// Each takes one more. @return whether it goes together with the others.
  bool add_register(ptx::Type type);
  bool add_constant(const ptx::Operand& constant);

 private:
  bool go_together() const {
    return !(has_integers_ && has_floats_);
  }

  std::size_t size_ = 0;
  bool has_integers_ = false;
  bool has_floats_ = false;
};

/// Whether a number (Kind::kInteger or kFloat) can be an operand of this type.
bool constant_fits(ptx::Type operand, const ptx::Operand& constant);

} // namespace cudasim::engine
