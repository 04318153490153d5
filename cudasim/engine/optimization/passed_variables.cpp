#include "cudasim/engine/optimization/passed_variables.h"

namespace cudasim::engine::optimization {

using ptx::Operand;
using ptx::Statement;
using Kind = Operand::Kind;

PassedVariables::PassedVariables(
    const ptx::Module& module,
    const ptx::Function& function) {
  Names names(module, function);
  std::uint32_t segment = 0;
  for (const Statement& statement : function.body) {
    names.pass(statement);
    segment += statement.kind == Statement::Kind::kLabel ? 1 : 0;
    if (statement.kind != Statement::Kind::kInstruction) {
      continue;
    }
    const ptx::Instruction& instruction = *statement.instruction;
    const bool stores = instruction.opcode == "st";
    const bool always = instruction.guard.predicate.empty();
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
      note(names, instruction.operands[i], stores && i == 0, always, segment);
    }
    if (instruction.call != nullptr) {
      for (const Operand& operand : instruction.call->arguments) {
        note_call(names, operand, segment);
      }
      for (const Operand& operand : instruction.call->results) {
        note_call(names, operand, segment);
      }
    }
    segment += instruction.opcode == "bra" || instruction.opcode == "brx";
  }
}

bool PassedVariables::is_argument(const ptx::Variable* variable) const {
  const auto found = uses_.find(variable);
  return found != uses_.end() && found->second.calls == 1 &&
      found->second.others == 0 && found->second.segments.size() == 1;
}

bool PassedVariables::is_result(const ptx::Variable* variable) const {
  const auto found = uses_.find(variable);
  return found != uses_.end() && found->second.calls == 1 &&
      found->second.stores == 0;
}

PassedVariables::Uses* PassedVariables::uses_of(
    const Names& names,
    const Operand& operand) {
  Binding binding;
  return names.find(operand.name, &binding) && binding.variable != nullptr
      ? &uses_[binding.variable]
      : nullptr;
}

void PassedVariables::note(
    const Names& names,
    const Operand& operand,
    bool stores,
    bool always,
    std::uint32_t segment) {
  if (operand.kind == Kind::kSymbol) {
    if (Uses* uses = uses_of(names, operand)) {
      uses->stores += stores ? 1 : 0;
      // An argument is stored in each round, and before the call.
      uses->others += !stores || !always || uses->calls != 0 ? 1 : 0;
      uses->segments.insert(segment);
    }
  }
  for (const Operand& element : operand.elements) {
    note(names, element, stores, always, segment);
  }
}

void PassedVariables::note_call(
    const Names& names,
    const Operand& operand,
    std::uint32_t segment) {
  if (Uses* uses = uses_of(names, operand)) {
    ++uses->calls;
    uses->segments.insert(segment);
  }
}

} // namespace cudasim::engine::optimization
