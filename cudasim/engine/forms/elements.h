// Elements of arrays as operands, and accesses whose state space the variable
// tells.
#pragma once

#include <string>
#include <string_view>

#include "cudasim/engine/forms/statement_writer.h"
#include "cudasim/engine/verify/names.h"
#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

/// Whether an instruction is an access to memory with a generic address.
bool is_access_without_space(const ptx::Instruction& instruction);

/// Puts addresses in the place of elements, one instruction after the other.
class Elements {
 public:
  /// @param names as they are at the instruction.
  /// @param writer gets what computes the address.
  Elements(
      const ptx::Module& module,
      const Names& names,
      StatementWriter& writer)
      : module_(module), names_(names), writer_(writer) {}

  /// @throws ptx::ParseError
  void expand(ptx::Instruction& instruction) {
    name_space(instruction);
    expand_elements(instruction);
  }

 private:
  [[noreturn]] void fail(
      const ptx::Operand& operand,
      const std::string& expected) const;
  const ptx::Variable* variable_named(const std::string& name) const;
  void name_space(ptx::Instruction& instruction) const;
  void expand_elements(ptx::Instruction& instruction);
  void demand_space(
      const ptx::Operand& operand,
      const ptx::Variable& array,
      const ptx::Instruction& instruction) const;
  ptx::Operand address_of(
      const ptx::Operand& operand,
      const ptx::Variable& array,
      ptx::Instruction& instruction);

  const ptx::Module& module_;
  const Names& names_;
  StatementWriter& writer_;
};

} // namespace cudasim::engine
