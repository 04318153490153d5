// Writes statements of a body that the text does not have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cudasim/ptx/ast.h"

namespace cudasim::engine {

class StatementWriter {
 public:
  /// All so far.
  std::vector<ptx::Statement> statements;

  ptx::Statement& add(ptx::Statement::Kind kind, ptx::Location at);
  void add(ptx::Instruction instruction);
  /// @param text opcode and modifiers: "add.u32".
  void add(
      std::string_view text,
      std::vector<ptx::Operand> operands,
      ptx::Location at,
      const ptx::Guard& guard = {});
  void declare(const ptx::RegisterDeclaration& registers);

  /// Declares a register, or a .param variable of this shape, with a name that
  /// no text can have.
  ptx::Operand new_register(ptx::Type type, ptx::Location at);
  ptx::Operand new_variable(const ptx::Variable& like, ptx::Location at);

 private:
  std::string new_name();

  std::uint64_t names_ = 0;
};

/// Operands: a number, a name, "[name]".
ptx::Operand integer_value(std::int64_t value, ptx::Location at);
ptx::Operand symbol_value(std::string name, ptx::Location at);
ptx::Operand address_at(ptx::Operand base);

} // namespace cudasim::engine
