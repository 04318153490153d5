#include "cudasim/engine/forms/statement_writer.h"

#include <memory>
#include <utility>

namespace cudasim::engine {

using ptx::Operand;
using ptx::Statement;

Statement& StatementWriter::add(Statement::Kind kind, ptx::Location at) {
  Statement& statement = statements.emplace_back();
  statement.kind = kind;
  statement.location = at;
  return statement;
}

void StatementWriter::add(ptx::Instruction instruction) {
  Statement& statement =
      add(Statement::Kind::kInstruction, instruction.location);
  statement.instruction =
      std::make_unique<ptx::Instruction>(std::move(instruction));
}

void StatementWriter::add(
    std::string_view text,
    std::vector<Operand> operands,
    ptx::Location at,
    const ptx::Guard& guard) {
  ptx::Instruction instruction;
  std::size_t begin = text.find('.');
  instruction.opcode = text.substr(0, begin);
  while (begin != std::string_view::npos) {
    const std::size_t end = text.find('.', begin + 1);
    instruction.modifiers.emplace_back(text.substr(begin + 1, end - begin - 1));
    begin = end;
  }
  instruction.operands = std::move(operands);
  instruction.guard = guard;
  instruction.location = at;
  add(std::move(instruction));
}

void StatementWriter::declare(const ptx::RegisterDeclaration& registers) {
  add(Statement::Kind::kRegisters, registers.location).registers =
      std::make_unique<ptx::RegisterDeclaration>(registers);
}

std::string StatementWriter::new_name() {
  return "%@" + std::to_string(names_++);
}

Operand StatementWriter::new_register(ptx::Type type, ptx::Location at) {
  ptx::RegisterDeclaration declaration;
  declaration.type = type;
  declaration.name = new_name();
  declaration.location = at;
  declare(declaration);
  Operand operand;
  operand.kind = Operand::Kind::kRegister;
  operand.name = declaration.name;
  operand.location = at;
  return operand;
}

Operand StatementWriter::new_variable(
    const ptx::Variable& like,
    ptx::Location at) {
  ptx::Variable variable;
  variable.space = ptx::Space::kParam;
  variable.type = like.type;
  variable.vector = like.vector;
  variable.alignment = like.alignment;
  variable.dimensions = like.dimensions;
  variable.name = new_name();
  variable.location = at;
  add(Statement::Kind::kVariable, at).variable =
      std::make_unique<ptx::Variable>(variable);
  return symbol_value(variable.name, at);
}

Operand integer_value(std::int64_t value, ptx::Location at) {
  Operand operand;
  operand.kind = Operand::Kind::kInteger;
  operand.bits = static_cast<std::uint64_t>(value);
  operand.location = at;
  return operand;
}

Operand symbol_value(std::string name, ptx::Location at) {
  Operand operand;
  operand.kind = Operand::Kind::kSymbol;
  operand.name = std::move(name);
  operand.location = at;
  return operand;
}

Operand address_at(Operand base) {
  Operand address;
  address.kind = Operand::Kind::kAddress;
  address.location = base.location;
  address.offset = std::exchange(base.offset, 0);
  address.elements.push_back(std::move(base));
  return address;
}

} // namespace cudasim::engine
