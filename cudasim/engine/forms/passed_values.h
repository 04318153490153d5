// Registers and numbers that a call passes: a .param variable for each, with a
// store before the call or a load behind it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cudasim/engine/forms/statement_writer.h"
#include "cudasim/engine/verify/names.h"
#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

class PassedValues {
 public:
  /// @param names as they are at the call. @param writer gets the statements.
  PassedValues(
      const ptx::Module& module,
      const Names& names,
      StatementWriter& writer)
      : module_(module), names_(names), writer_(writer) {}

  /// Writes a call and what it needs.
  /// @throws ptx::ParseError
  void call(ptx::Instruction& instruction);

 private:
  using Formals = const std::vector<ptx::Variable>*;

  [[noreturn]] void fail(
      const ptx::Operand& operand,
      const std::string& expected) const;
  std::pair<Formals, Formals> formals(const ptx::Instruction::Call& call) const;
  bool is_value(const ptx::Operand& operand) const;
  void pass_value(ptx::Operand& argument, const ptx::Variable& formal);
  void demand_type(const ptx::Operand& operand, const ptx::Variable& formal)
      const;

  const ptx::Module& module_;
  const Names& names_;
  StatementWriter& writer_;
};

} // namespace cudasim::engine
